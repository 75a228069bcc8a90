"""Requests in folders, answered by somebody who is not trusted."""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import DataError, MetamemError, UsageError
from metamem.core.types import Design
from metamem.evaluation.jobs import Spec
from metamem.knowledge.indexing import Indexer
from metamem.runs.config import LearnConfig
from metamem.runs.desk.desk import Desk
from metamem.runs.desk.quick import QuickCases
from metamem.search.handoff.alive import seen
from metamem.search.handoff.place import WorkFolder, run_folder
from metamem.search.handoff.proposer import Handoff
from metamem.search.handoff.submission import SOURCE_BYTES, Submission, checked_source, parsed_key
from metamem.search.proposer import (
    Ancestor,
    FailedAttempt,
    ParentView,
    Proposal,
    ProposerContext,
    Request,
    ShownEpisode,
)
from metamem.search.score import Score
from metamem.store.archive import ProposalRecord
from metamem.store.sqlite import SqliteArchive

PARENT = Design("class Parent: pass\n")
REQUEST = Request([ParentView(PARENT, 0.5)], seed=1, domain_description="Doors.")
CHILD = "class Child:\n    x = 1\n"


@pytest.fixture
def desk(tmp_path):
    """The desk of a run that has one design in its journal."""
    with SqliteArchive(tmp_path / "archive.db") as archive:
        archive.create_run("run", LearnConfig(Spec("toy")).to_json())
        archive.add_design(PARENT)
        archive.add_proposal(
            ProposalRecord("run", 0, PARENT.id, (), "human", "human", "", "accepted")
        )
        yield Desk(archive, WorkFolder(run_folder(tmp_path, "run")), "run")


async def asking(desk, request=REQUEST, proposer=None):
    """A proposer that waits for an answer to a request."""
    proposer = proposer or Handoff(ProposerContext(folder=desk.place.root))
    task = asyncio.create_task(proposer.propose(request))
    await asyncio.sleep(0)  # it asks at once, and then waits
    return task


async def until(true):
    while not true():  # noqa: ASYNC110 - files tell no event
        await asyncio.sleep(0.01)


async def test_a_request_is_a_folder_and_its_answer_a_proposal(desk):
    task = await asking(desk)
    told = await desk.next(0)
    folder = desk.place.folder(told["number"])
    assert (told["number"], told["parent"], told["repair"]) == (1, PARENT.id, None)
    assert (folder / "parent.py").read_text() == PARENT.source
    assert "Doors." in (folder / "dossier.md").read_text()
    assert "async def retrieve" in (folder / "manual.md").read_text()
    assert "GridModel" in (folder / "toolbox.md").read_text()
    assert "submit" in (folder / "skill.md").read_text()
    (folder / "design.py").write_text(CHILD)
    outcome = await desk.submit(1, desk.source(1), " a child ", 0)
    assert (outcome["status"], outcome["design"]) == ("pending", Design(CHILD).id)
    assert await task == Proposal(Design(CHILD), (PARENT.id,), "handoff", "a child")
    assert (await desk.next(0))["number"] is None


async def test_pieces_of_an_index_lie_beside_a_request(desk, tmp_path, monkeypatch):
    monkeypatch.setenv("METAMEM_KNOWLEDGE", str(tmp_path / "store"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "doors.md").write_text("# Doors\n\n```\nThe red one is locked.\n```\n")
    Indexer(tmp_path / "store", workers=1).index("notes", [tmp_path / "notes"])
    context = ProposerContext(folder=desk.place.root)
    task = await asking(desk, proposer=Handoff(context, knowledge="notes"))
    await until(lambda: desk.place.numbers())
    told = (desk.place.folder(1) / "knowledge.md").read_text()
    assert "doors.md:1-" in told and "The red one is locked." in told and "````" in told
    assert "knowledge.md" in (desk.place.folder(1) / "dossier.md").read_text()
    task.cancel()
    task = await asking(desk, replace(REQUEST, seed=2))
    await until(lambda: len(desk.place.numbers()) == 2)
    assert not (desk.place.folder(2) / "knowledge.md").exists()
    task.cancel()


async def test_a_repair_comes_with_the_design_and_its_error(desk):
    failed = FailedAttempt(CHILD, "NameError: x")
    task = await asking(desk, replace(REQUEST, failed_attempt=failed))
    told = await desk.next(0)
    assert told["repair"] == {"design": Design(CHILD).id, "error": "NameError: x"}
    assert (desk.place.folder(1) / "failed.py").read_text() == CHILD
    with pytest.raises(UsageError, match="nothing changed"):
        await desk.submit(1, CHILD, "", 0)
    task.cancel()


async def test_an_error_may_be_of_any_length(desk):
    failed = FailedAttempt(CHILD, "\x07\ud800" * 1_000_000)
    task = await asking(desk, replace(REQUEST, failed_attempt=failed))
    written = (desk.place.folder(1) / "task.json").stat().st_ino
    assert (await desk.next(0))["repair"]["error"].startswith("\x07")
    await desk.submit(1, CHILD + "    y = 2\n", "", 0)
    await task
    assert (desk.place.folder(1) / "task.json").stat().st_ino == written


async def test_an_answer_that_was_a_copy_is_told(desk):
    earlier = Proposal(PARENT, (), "handoff", "")
    task = await asking(desk, replace(REQUEST, earlier=earlier))
    assert (await desk.next(0))["copied"] == PARENT.id
    task.cancel()


async def test_requests_that_wait_together_get_their_own_answers(desk):
    proposer = Handoff(ProposerContext(folder=desk.place.root))
    requests = [replace(REQUEST, seed=seed) for seed in (1, 2, 3)]
    tasks = [await asking(desk, request, proposer) for request in requests]
    assert desk.place.waiting() == [1, 2, 3]
    for number in (2, 3, 1):
        await desk.submit(number, f"class Child{{}}:\n    x = {number}\n".format(number), "", 0)
    found = await asyncio.gather(*tasks)
    assert [f"x = {n}" in p.design.source for n, p in enumerate(found, 1)] == [True] * 3
    assert desk.place.open() == []


# --- what is there to be read ---------------------------------------------------------------------

LONG = "\n".join(f"step {n} of the advice" for n in range(9000))


def played(name, rewards):
    """A design with its rewards; every episode of it is long."""

    async def episodes(tasks):
        steps = (("", "a hall"), ("open the door", "a room"), ("wait", "a room"))
        possible = (("open the door", "wait"), ("wait", "leave"), ("wait", "leave"))
        return [
            ShownEpisode(t, KINDS[t], f"goal of {t}", rewards[t], 1.0, LONG, 0.5, steps, possible)
            for t in tasks
            if t in rewards
        ]

    mean = sum(rewards.values()) / len(rewards)
    return ParentView(
        Design(f"class {name}: pass\n"),
        mean,
        origin=Ancestor("0" * 32, "handoff", "A note. " * 200, mean, None),
        rewards=rewards,
        kinds=KINDS,
        score=Score(mean, 0.1, 0.9, len(rewards), len(KINDS)),
        episodes=episodes,
    )


KINDS = {f"t{n}": "even" if n % 2 == 0 else "odd" for n in range(10)}
BASE = played("Base", {task: float(task in ("t0", "t1", "t2")) for task in KINDS})
OWN = played("Own", {task: float(task in ("t2", "t3")) for task in list(KINDS)[:8]})


async def test_a_dossier_compares_the_own_last_design_and_cuts_nothing(desk):
    task = await asking(desk, replace(REQUEST, parents=[BASE], latest=OWN))
    folder = desk.place.folder(1)
    text = (folder / "dossier.md").read_text()
    for words in (
        "0.300 (0.100 to 0.900; 10 of 10 tasks)", "Your last design", "code: own.py",
        "0.250 (0.100 to 0.900; 8 of 10 tasks)", "Better on 1 tasks, worse on 2, equal on 5",
        "- even, 4 tasks: 0.25; 0.50", "- t0 (even): 0.00, the parent 1.00",
        "goal of t0", "tasks.md",
    ):  # fmt: skip
        assert words in text, words
    assert text.index("- t1 (odd): 0.00, the parent 1.00") < text.index("- t3 (odd): 1.00, the")
    assert "left out" not in text.split("## Your last design")[1]
    assert (folder / "own.py").read_text() == OWN.design.source
    assert "A note. " * 199 in (folder / "history.md").read_text()
    rows = (folder / "tasks.md").read_text()
    assert all(f"| {name} |" in rows for name in KINDS)
    assert "| t9 | odd | 0.00 | - |" in rows  # not played by the own last design
    first = next(line for line in text.splitlines() if "-own.txt" in line).split(":")[0].strip(" -")
    shown = desk.document(1, first)
    assert LONG in shown and "> open the door\na room\n[now possible: leave]" in shown
    assert "[possible: open the door | wait]" in shown and "[no longer: open the door]" in shown
    assert set(desk.documents(1)) >= {"dossier.md", "own.py", "parent.py", first, "manual.md"}
    task.cancel()


@pytest.mark.parametrize(
    "name",
    ["task.json", "open.json", "../open.json", "episodes/../task.json", "/etc/hostname", "",
     "episodes/", "episodes/none.txt", "check/01.txt", "a\0.md", "EPISODES/01-own.txt"],
)  # fmt: skip
async def test_nothing_else_can_be_read(desk, name):
    task = await asking(desk, replace(REQUEST, parents=[BASE], latest=OWN))
    with pytest.raises(MetamemError, match="has no document"):
        desk.document(1, name)
    task.cancel()


async def test_no_link_leads_out_of_the_documents(desk, tmp_path):
    task = await asking(desk, replace(REQUEST, parents=[BASE]))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.txt").write_text("secret")
    (desk.place.folder(1) / "check").symlink_to(elsewhere)
    (desk.place.folder(1) / "episodes" / "secret.txt").symlink_to(elsewhere / "secret.txt")
    for name in ("check/secret.txt", "episodes/secret.txt"):
        with pytest.raises(DataError, match="not a plain file"):
            desk.document(1, name)
    task.cancel()


async def test_waiting_is_told_when_it_begins_and_when_it_ends(desk):
    heard = []
    proposer = Handoff(ProposerContext(folder=desk.place.root, on_wait=heard.append))
    tasks = [await asking(desk, replace(REQUEST, seed=seed), proposer) for seed in (1, 2)]
    assert heard == [True]
    for number, task in enumerate(tasks, 1):
        await desk.submit(number, f"class Child:\n    x = {number}\n", "", 0)
        await task
        assert heard == [True, False][:number]
    (await asking(desk, replace(REQUEST, seed=1), proposer)).cancel()  # answered already
    assert heard == [True, False]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_another_user_reads_requests_that_lie_outside_of_a_closed_home():
    """The recipe of docs/handoff.md, with nobody as the other user."""
    open_to_all = Path(tempfile.mkdtemp())
    try:
        open_to_all.chmod(0o755)
        home, requests = open_to_all / "home", open_to_all / "requests"
        home.mkdir(mode=0o700)
        requests.mkdir(mode=0o755)
        (home / "handoff").symlink_to(requests)
        (home / "archive.db").write_text("secret")
        place = WorkFolder(run_folder(home, "run"))
        task = asyncio.create_task(
            Handoff(ProposerContext(folder=place.root)).propose(
                replace(REQUEST, parents=[BASE], latest=OWN)
            )
        )
        await asyncio.sleep(0)
        request = requests / "run" / "0001"

        def nobody(*command):
            done = subprocess.run(command, user=65534, group=65534, capture_output=True, text=True)
            return done.stdout if done.returncode == 0 else None

        assert nobody("cat", str(request / "dossier.md")) == (request / "dossier.md").read_text()
        assert nobody("cat", str(request / "episodes" / "01-own.txt"))
        assert nobody("ls", str(home)) is None
        assert nobody("cat", str(home / "archive.db")) is None
        assert nobody("cat", str(home / "handoff" / "run" / "0001" / "dossier.md")) is None
        assert nobody("touch", str(request / "submission.json")) is None
        assert nobody("touch", str(requests / "x")) is None
        task.cancel()
    finally:
        shutil.rmtree(open_to_all)


# --- quick scores are bounded --------------------------------------------------------------------


def test_quick_cases_are_spent_once_for_all_whoever_restarts(tmp_path):
    with SqliteArchive(tmp_path / "archive.db") as archive:
        quick = QuickCases(archive, "run", designs=1)
        assert (quick.allowed, quick.left) == (40, 40)
        quick.take(30)
        QuickCases(archive, "another run", designs=1).take(40)
    with SqliteArchive(tmp_path / "archive.db") as archive:
        quick = QuickCases(archive, "run", designs=1)
        assert quick.left == 10
        with pytest.raises(UsageError, match="10 are left of the 40") as refused:
            quick.take(11)
        assert refused.value.hint == "ask for fewer tasks"
        quick.take(10)
        with pytest.raises(UsageError, match="0 are left"):
            quick.require(1)


def test_of_many_who_take_at_once_nobody_takes_too_much(tmp_path):
    with SqliteArchive(tmp_path / "archive.db") as archive:
        quick, refused = QuickCases(archive, "run", designs=2), []

        def take():
            try:
                quick.take(9)
            except UsageError as error:
                refused.append(error)

        threads = [threading.Thread(target=take) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (quick.left, len(refused)) == (80 - 8 * 9, 4)


# --- after a crash -------------------------------------------------------------------------------


async def test_what_was_submitted_while_nobody_waited_is_used_and_nothing_is_asked_twice(desk):
    (await asking(desk)).cancel()
    assert (await desk.next(0))["number"] == 1
    outcome = await desk.submit(1, CHILD, "", 60)
    assert outcome["status"] == "pending" and "no process works" in outcome["reason"]
    again = Handoff(ProposerContext(folder=desk.place.root))
    assert (await again.propose(REQUEST)).design == Design(CHILD)
    assert desk.place.numbers() == [1]


async def test_a_request_that_is_made_again_waits_beside_new_ones(desk):
    (await asking(desk)).cancel()
    again = Handoff(ProposerContext(folder=desk.place.root))
    tasks = [await asking(desk, replace(REQUEST, seed=seed), again) for seed in (1, 2)]
    assert desk.place.waiting() == [1, 2]
    for number, task in enumerate(tasks, 1):
        await desk.submit(number, f"class Child:\n    x = {number}\n", "", 0)
        await task
    assert desk.place.open() == []


async def test_the_same_failure_in_other_words_is_the_same_request(desk):
    for error in ("it took 2.1 s", "it took 2.2 s"):
        (await asking(desk, replace(REQUEST, failed_attempt=FailedAttempt(CHILD, error)))).cancel()
    assert desk.place.numbers() == [1]
    (await asking(desk, replace(REQUEST, failed_attempt=FailedAttempt("other", error)))).cancel()
    (await asking(desk, replace(REQUEST, seed=2))).cancel()
    assert desk.place.numbers() == [1, 2, 3]


async def test_a_request_that_nobody_makes_any_more_takes_no_answer(desk):
    (await asking(desk)).cancel()
    task = await asking(desk, replace(REQUEST, seed=2))
    assert desk.place.waiting() == [2]
    with pytest.raises(UsageError, match="does not wait") as refused:
        await desk.submit(1, CHILD, "", 0)
    assert "requests that wait: 2" in refused.value.hint
    task.cancel()


async def test_a_sign_of_life_ends_with_the_proposer(desk):
    proposer = Handoff(ProposerContext(folder=desk.place.root))
    assert seen(desk.place.root)
    del proposer
    assert not seen(desk.place.root)


# --- an unfriendly neighbour ---------------------------------------------------------------------


async def test_a_folder_that_vanished_is_made_again(desk):
    task = await asking(desk)
    desk.place.root.rename(desk.place.root.with_name("elsewhere"))
    await until(lambda: desk.place.waiting() == [1] and seen(desk.place.root))
    await desk.submit(1, CHILD, "", 0)
    assert (await task).design == Design(CHILD)


SEVEN = json.dumps(
    {"number": 7, "request": "", "parent": "", "failed": "", "error": "", "copied": ""}
)


@pytest.mark.parametrize(
    "task", ["", "[]", "{}", "[" * 100_000, '{"number": 1, "request": "x"}', SEVEN]
)
async def test_a_spoilt_task_is_written_again(desk, task):
    waits = await asking(desk)
    before = desk.place.task(1)
    (desk.place.folder(1) / "task.json").write_text(task)
    await until(lambda: (desk.place.folder(1) / "task.json").read_text() != task)
    assert desk.place.task(1) == before
    waits.cancel()


async def test_links_lead_nowhere(desk, tmp_path):
    task = await asking(desk)
    secret, folder = tmp_path / "secret.py", desk.place.folder(1)
    secret.write_text("class Secret: pass\n")
    (folder / "design.py").symlink_to(secret)
    with pytest.raises(DataError, match="not a plain file"):
        desk.source(1)
    valid = Submission(desk.place.task(1).request, secret.read_text()).to_bytes()
    secret.write_bytes(valid)
    (folder / "submission.json").symlink_to(secret)
    await until(lambda: desk.place.refusal(1))
    assert "not a plain file" in desk.place.refusal(1)
    assert secret.read_bytes() == valid and not (folder / "submission.json").is_symlink()

    outside = tmp_path / "outside"
    folder.rename(outside)
    (outside / "submission.json").write_bytes(valid)
    folder.symlink_to(outside)
    await until(lambda: not folder.is_symlink() and folder.is_dir())
    assert (outside / "submission.json").read_bytes() == valid
    assert not task.done()
    task.cancel()


def _sparse(path):
    with path.open("wb") as file:
        file.truncate(50_000_000)


HOSTILE = {
    "nothing": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(b'{"request": "'),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "huge": _sparse,
    "deep": lambda path: path.write_text("[" * 200_000),
    "list": lambda path: path.write_text("[1]"),
    "numbers": lambda path: path.write_text('{"request": 1, "source": 2, "note": 3}'),
    "more": lambda path: path.write_text('{"request": "", "source": "x", "note": "", "id": ""}'),
    "surrogate": lambda path: path.write_text('{"request": "", "source": "\\ud800", "note": ""}'),
    "another": lambda path: path.write_bytes(Submission("0" * 32, CHILD).to_bytes()),
    "long": lambda path: path.write_bytes(Submission("", "x" * (SOURCE_BYTES + 1)).to_bytes()),
    "folder": lambda path: (path / "within").mkdir(parents=True),
    "pipe": lambda path: os.mkfifo(path),
}


@pytest.mark.parametrize("how", HOSTILE)
async def test_what_cannot_be_used_is_refused_and_the_request_still_waits(desk, how):
    task = await asking(desk)
    path = desk.place.folder(1) / "submission.json"
    HOSTILE[how](path)
    await until(lambda: desk.place.refusal(1))
    assert not path.exists() and not task.done()
    assert (await desk.next(0))["refused"] == desk.place.refusal(1)
    await desk.submit(1, CHILD, "", 0)
    assert (await task).design == Design(CHILD)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "empty"),
        (b"\xff\xfe", "UTF-8"),
        ("\ud800", "UTF-8"),
        ("x = '\0'", "null"),
        ("x" * (SOURCE_BYTES + 1), "longer"),
        ("def broken(:", "not Python"),
        ("(" * 5000 + ")" * 5000, "not Python"),
        ("x = " + "-" * 50_000 + "1", "not Python"),
        ("x = " + "1+" * 50_000 + "1", "not Python"),
        ("x" + ".y" * 50_000, "not Python"),
        ("# class Parent\nclass Renamed:\n    'The parent again.'\n", "same code as the design"),
    ],
)
async def test_what_is_no_new_design_is_not_handed_in(desk, source, said):
    task = await asking(desk)
    with pytest.raises(MetamemError, match=said):
        await desk.submit(1, source, "", 0)
    assert desk.place.waiting() == [1] and not task.done()
    task.cancel()


@pytest.mark.parametrize("number", [-1, 0, 2, 10**30])
async def test_wrong_numbers(desk, number):
    task = await asking(desk)
    for act in (desk.check(number, CHILD), desk.submit(number, CHILD, "", 0)):
        with pytest.raises(UsageError, match="there is no request"):
            await act
    with pytest.raises(UsageError, match="there is no request"):
        desk.source(number)
    task.cancel()


async def test_a_note_that_is_too_long_or_odd(desk):
    task = await asking(desk)
    with pytest.raises(DataError, match="note"):
        await desk.submit(1, CHILD, "x" * 5000, 0)
    await desk.submit(1, CHILD, "odd \udcff", 0)
    assert (await task).note == "odd ?"


async def test_of_many_submits_at_once_one_wins(desk):
    task = await asking(desk)
    ended = []

    def hand_in(n):
        try:
            asyncio.run(desk.submit(1, f"class Child:\n    x = {n}\n", "", 0))
            ended.append(n)
        except UsageError as error:
            ended.append(str(error))

    threads = [threading.Thread(target=hand_in, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    design = (await task).design
    for thread in threads:
        await asyncio.to_thread(thread.join)
    winners = [n for n in ended if isinstance(n, int)]
    assert len(winners) == 1 and len(ended) == 8
    assert f"x = {winners[0]}" in design.source
    assert not list(desk.place.folder(1).glob(".draft*"))


async def test_a_draft_cannot_be_tried_before_experiences_are_collected(desk):
    task = await asking(desk)
    with pytest.raises(UsageError, match="has not collected"):
        await desk.check(1, CHILD)
    assert desk.archive.collections() == []
    task.cancel()


# --- whatever the input --------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
FIELDS = st.fixed_dictionaries({"request": JSON, "source": JSON, "note": JSON})


@given(st.binary() | (JSON | FIELDS).map(lambda value: json.dumps(value).encode()))
def test_a_submission_is_read_or_refused(content):
    try:
        found = Submission.from_bytes(content)
    except DataError:
        return
    assert Submission.from_bytes(found.to_bytes()) == found
    assert checked_source(found.source) == found.source


@given(st.text() | st.binary().map(lambda b: b.decode(errors="surrogateescape")))
def test_a_source_is_parsed_or_refused(source):
    with suppress(DataError):
        assert parsed_key(checked_source(source))


@given(st.text(max_size=200))
def test_no_name_of_a_run_leads_out_of_its_folder(tmp_path_factory, run):
    home = tmp_path_factory.getbasetemp()
    folder = run_folder(home, run)
    assert folder.resolve().parent == (home / "handoff").resolve()
