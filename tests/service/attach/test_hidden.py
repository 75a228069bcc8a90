"""Paths and ids of hosts with secrets in them: nowhere on the disk, and all is found again by them."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metamem.core.secret_rules import rules
from metamem.core.secrets import redact
from metamem.service.attach import control, metamem_hook
from metamem.service.attach.erasing import SpoolEraser
from metamem.service.attach.hidden import digest, is_digest
from metamem.service.attach.pace import OF_TOOLS
from metamem.service.attach.spool import Spool
from metamem.service.calls import read_calls
from metamem.service.database import FILE, Database
from metamem.service.importing.keeping import scope_of
from metamem.service.importing.sources import sources
from metamem.service.service import MemoryService
from tests.service.attach.hosts import END, PROMPT, START, sent
from tests.service.attach.living import NOBODY, Life, until
from tests.service.importing.written import (
    Claude,
    Codex,
    Opencode,
    gemini_file,
    gemini_head,
    gemini_message,
    jsonl,
    use,
)
from tests.service.writing.planted import ANY, SECRETS, drawn


def secret(number: int) -> str:
    return "gh" + "p_" + drawn(36, seed=100 + number)


PLACE, OWN, LINE, CALL, OTHER = (secret(number) for number in range(5))
ALL = (PLACE, OWN, LINE, CALL, OTHER)
BODIES = [each[4:] for each in ALL]  # hosts write folders with other signs between the words


def planted(folder: Path) -> list[str]:
    """Where anything of them stands, also in the names of files."""
    found = []
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        name = str(path.relative_to(folder))
        found += [f"{body} in {name}" for body in BODIES if body.encode() in data or body in name]
    return found


def hosted(life: Life, host: str, folder: Path) -> tuple[Path | None, Callable[[str], None]]:
    """A session whose every id and place holds a secret, and what adds a line to it."""
    encoded = "".join(sign if sign.isalnum() else "-" for sign in str(folder))
    if host == "claude-code":
        session = Claude(OWN, str(folder))
        path = life.home / "claude" / "projects" / encoded / f"{OWN}.jsonl"

        def add(text: str) -> None:
            number = len(session.records)
            session.user(text, gitBranch=f"fix/{OTHER}", promptId=OTHER, slug=OTHER)
            session.agent("Done it.", use(f"{CALL}{number}", "Bash", command=f"echo {number}"))
            session.result(f"{CALL}{number}", "done")
            for record in session.records[number:]:
                assert isinstance(record, dict)
                record["message"]["id"] = f"msg-{LINE}-{number}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(session.text())

        return path, add
    if host == "codex":
        rollout = Codex(OWN, str(folder), git={"branch": OTHER})
        path = life.home / "codex" / "sessions" / f"rollout-2026-08-02T09-00-00-{OWN}.jsonl"

        def say(text: str) -> None:
            number = len(rollout.records)
            rollout.user(text)
            rollout.run(f"{CALL}{number}", f"echo {number}", "done", 0)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rollout.text())

        return path, say
    if host == "gemini":
        records: list[Any] = [gemini_head(OWN, projectHash=PLACE)]
        path = life.home / ".gemini" / "tmp" / "webshop" / "chats" / f"session-{OWN}.jsonl"

        def told(text: str) -> None:
            number = len(records)
            call = {"id": f"{CALL}{number}", "name": "read_file", "args": {"n": number}, "status": "success",
                    "result": [{"functionResponse": {"response": {"output": "done"}}}]}  # fmt: skip
            records.append(gemini_message(f"{LINE}-{number}", "user", text))
            records.append(gemini_message(f"{LINE}-{number}a", "gemini", "Done it.", toolCalls=[call]))  # fmt: skip
            gemini_file(life.home, jsonl(records), str(folder), path.name)

        return path, told
    database = Opencode(life.home / "data" / "opencode" / "opencode.db")
    database.session(OWN, str(folder))
    count = 0

    def more(text: str) -> None:
        nonlocal count
        count += 1
        state = {"status": "completed", "input": {"n": count}, "output": "done"}
        database.say(OWN, f"msg{count:03}{LINE}", "user", text)
        database.message(OWN, f"msg{count:03}{LINE}x", "assistant")
        part = {"type": "tool", "callID": f"{CALL}{count}", "tool": "read", "state": state}
        database.part(OWN, f"msg{count:03}{LINE}x", f"prt{count}{LINE}", part)

    return None, more


def given(host: str, moment: str, folder: Path, path: Path | None, prompt: str = "") -> dict[str, Any]:  # fmt: skip
    if host != "opencode":
        return sent(host, moment, OWN, folder, path, prompt)
    names = {START: "SessionStart", PROMPT: "UserPromptSubmit", END: "session.idle"}
    said = {"prompt": prompt} if prompt else {}
    return {"session_id": OWN, "cwd": str(folder), "hook_event_name": names[moment]} | said


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "opencode"])
def test_secrets_in_paths_and_ids_are_nowhere_and_all_meets_by_them(life: Life, host: str) -> None:
    life.begin()
    folder = life.home / f"key-{PLACE}" / "shop"
    folder.mkdir(parents=True)
    path, add = hosted(life, host, folder)
    add("The first thing that was asked for.")
    hook = {
        kind: _command(life, kind, host) for kind in ("capture", "briefing+start", "recall+prompt")
    }
    start = life.meeting.folder / "start"
    real = start.read_bytes()
    start.write_bytes(NOBODY)  # with nobody there
    for _ in range(2):
        life.run(hook["capture"], given(host, END, folder, path))
    assert Spool(life.meeting.spool).waiting() == 1
    assert planted(life.meeting.memories) == []
    start.write_bytes(real)
    (life.meeting.folder / "starting").unlink()
    life.run(hook["capture"], given(host, END, folder, path))  # which starts it, as hosts' hooks do
    assert until(lambda: len(_said(life)) == 1)
    life.settled()
    # With the daemon there; the session goes on.
    life.run(hook["briefing+start"], given(host, START, folder, path))
    life.run(hook["recall+prompt"], given(host, PROMPT, folder, path, "What was the first thing?"))
    add("The second thing that was asked for.")
    life.run(hook["capture"], given(host, END, folder, path))
    assert until(lambda: len(_said(life)) == 2)
    life.settled()
    assert planted(life.meeting.memories) == []
    control.stop(life.meeting)

    assert _said(life) == [
        "The first thing that was asked for.",
        "The second thing that was asked for.",
    ]
    _imported(life, host)  # adds nothing
    assert len(_said(life)) == 2
    assert len({fact.session for fact in life.facts(types=("turn",))}) == 1
    with _database(life) as execute:
        ((scope, kept, own),) = execute(
            "SELECT s.number, s.name, t.id FROM scopes s JOIN sessions t ON t.scope = s.number"
        )
        calls = list(read_calls(execute, scope, own).values())
    assert kept == scope_of(str(folder)).name
    assert len(calls) == 2
    assert all("done" in call["result"] for call in calls)
    assert all(call["prompt"] for call in calls)
    assert planted(life.meeting.memories) == []


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "opencode"])
def test_what_is_imported_keeps_nothing_of_them_either(life: Life, host: str) -> None:
    life.begin()
    folder = life.home / f"key-{PLACE}" / "shop"
    folder.mkdir(parents=True)
    _, add = hosted(life, host, folder)
    for number, text in enumerate(("The first thing.", "The second thing.", "The third thing.")):
        add(f"{text} It was asked for by Ada.")
        _imported(life, host)
        assert len(_said(life)) == number + 1
    assert planted(life.meeting.memories) == []


def _imported(life: Life, host: str) -> None:
    from metamem.service.importing.keeping import Keeper
    from metamem.service.importing.places import Places

    service = MemoryService(life.meeting.memories)
    try:
        keeper = Keeper(service.local(), Places(service.database))
        for source in sources(host, life.environment):
            keeper.keep(source)
    finally:
        service.close()


def _command(life: Life, kind: str, host: str) -> str:
    from metamem.service.attach.places import hook_command

    return hook_command(kind, host, life.meeting)


def _said(life: Life) -> list[str]:
    return sorted(f.text for f in life.facts(types=("turn",)) if f.text != "Done it.")


def _database(life: Life) -> Any:
    from contextlib import contextmanager

    @contextmanager
    def opened() -> Any:
        database = Database(life.meeting.memories / FILE)
        try:
            with database.reading() as execute:
                yield execute
        finally:
            database.close()

    return opened()


# --- what a hook takes for harmless ------------------------------------------------------------


def test_a_hook_takes_nothing_for_harmless_that_the_rules_know() -> None:
    near = [word for rule in rules() for word in rule.near]
    luck, harmless = random.Random(11), 0
    for _ in range(36_000):
        words = [_word(luck, near) for _ in range(luck.randint(2, 7))]
        path = luck.choice(("", "/", "/home/")) + "".join(
            word + luck.choice(("-", "_", ".", "/", "--", "")) for word in words
        )
        if metamem_hook.plain(path):
            harmless += 1
            assert redact(path).kinds == (), path
    assert harmless > 5000
    for _, known, around in SECRETS:
        for path in (known, f"/home/{known}/x", f"/home/{around.format(known)}/x"):
            assert not (metamem_hook.plain(path) and redact(path).kinds), path


@pytest.mark.parametrize(
    "form",
    [
        "AI" + "za{0:.35}",
        "amzn" + ".mws.{0}",
        "ctx7" + "sk-{0}",
        "ey" + "J{0}.ey" + "J{0}",
        "psca" + "le_pw_{0}",
        "s" + "k_live_{0:.8}{0:.4}",
        "s" + "k-lf-{0}",
        "s" + "k-proj-{0}",
        "sq" + "0atp-{0}",
        "xo" + "xb-{0}",
    ],
)
def test_nor_where_signs_part_a_key_into_short_runs(form: str) -> None:
    path = f"/home/ada/{form.format('0b5e3c1a-7d52-4f0e-9a53-0c9a1b2c3d4e')}/shop"
    assert redact(path).kinds and not metamem_hook.plain(path)


def _word(luck: random.Random, near: list[str]) -> str:
    kind = luck.random()
    if kind < 0.4:
        return luck.choice(near)
    if kind < 0.5:
        return luck.choice(near).upper()
    if kind < 0.7:
        return "".join(luck.choice("0123456789abcdef") for _ in range(luck.randint(3, 14)))
    if kind < 0.8:
        return luck.choice(("hunter2x", "swordfish", "Str0ngPw"))
    return "".join(luck.choice(ANY) for _ in range(luck.randint(4, 24)))


@pytest.mark.parametrize(
    "path",
    [
        "/home/ada/.claude/projects/-home-ada-web-shop/0b5e3c1a-7d52-4f0e-9a53-0c9a1b2c3d4e.jsonl",
        "/Users/ada/.codex/sessions/2026/08/02/rollout-2026-08-02T09-00-00-"
        "0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b.jsonl",
        "/home/ada/.gemini/tmp/webshop/chats/session-2026-08-03T11-00-0a1b2c3d.jsonl",
        "ses_12ab34cd",
        *sorted(OF_TOOLS),
    ],
)
def test_usual_paths_stand_in_pointers_as_they_are(path: str) -> None:
    assert metamem_hook.plain(path)


def test_erasing_a_scope_takes_pointers_whose_folder_is_hidden(life: Life) -> None:
    life.begin()
    (life.meeting.folder / "start").write_bytes(NOBODY)
    command = _command(life, "capture", "claude-code")
    folders = [life.home / f"{PLACE}-{name}" for name in ("one", "two")]
    for number, folder in enumerate(folders):
        folder.mkdir()
        path = life.home / "claude" / "projects" / f"p{number}" / f"s{number}.jsonl"
        session = Claude(f"s{number}", str(folder))
        session.user("Something was said here.")
        path.parent.mkdir(parents=True)
        path.write_text(session.text())
        life.run(command, sent("claude-code", END, f"s{number}", folder, path))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in life.environment.items():
            patch.setenv(name, value)
        service = MemoryService(life.meeting.memories)
        eraser = SpoolEraser(life.meeting.memories, service.database)
        assert eraser.erase(scope_of(str(folders[0])), "", ()) == {"pointers": 1}
        service.close()
    (left,) = Spool(life.meeting.spool).looked_at()
    assert left.pointer is not None
    assert is_digest(left.pointer.folder)
    assert left.pointer.folder == digest(str(folders[1]))


def test_names_of_projects_hold_no_secret(tmp_path: Path) -> None:
    folder = tmp_path / f"shop-{PLACE}"
    config = folder / ".git" / "config"
    config.parent.mkdir(parents=True)
    for name in (".git/objects", ".git/refs"):
        (folder / name).mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main")
    key = "AK" + "IA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    names = [scope_of(str(folder)).name]
    config.write_text(f'[remote "origin"]\n\turl = https://git.example/{key}/shop.git\n')
    names.append(scope_of(str(folder)).name)
    assert len(set(names)) == 2
    for name in names:
        assert PLACE[4:] not in name and key.lower() not in name.lower()
