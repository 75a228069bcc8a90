"""The repairer in real projects: what it does by itself, and what advice does to it."""

import json

import pytest

from metamem.agents.repair import Repair
from metamem.agents.repair_advice import read_advice
from metamem.agents.repair_change import signature
from metamem.agents.repair_code import Module
from metamem.agents.repair_templates import substituted
from metamem.core.protocols import Seat
from metamem.core.types import Step, Task
from metamem.domains.coding.domain import CodingDomain

TEXT = '''def label(name, width=4):
    if not name:
        return ""
    return name.strip()[:width]


def count(first, last):
    """Both ends included."""
    return len(range(first, last))
'''
TESTS = """from shelf.labels import count, label


def test_label():
    assert label("ab") == "ab"
    assert label(" abcdef ") == "abcd"
    assert label("") == ""


def test_count():
    assert count(3, 3) == 1
    assert count(1, 5) == 5
"""
TASK = Task(
    "one",
    "shelf: count(1, 5) says 4.",
    data={
        "files": {"shelf/__init__.py": "", "shelf/labels.py": TEXT, "tests/test_labels.py": TESTS},
        "fix": {"shelf/labels.py": TEXT.replace("last))", "last + 1))")},
        "fail_to_pass": ["tests/test_labels.py::test_count"],
        "pass_to_pass": ["tests/test_labels.py::test_label"],
    },
)
RIGHT = json.dumps({"path": "other/dates.py", "find": "range(a, b)", "replace": "range(a, b + 1)"})
WRONG = json.dumps(
    {"path": "other/dates.py", "find": "f(a, b)", "replace": "f(a.strip(), b.strip())"}
)
IRRELEVANT = "The kettle is in the kitchen, and the river runs south."
SEEDS = range(3)


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> CodingDomain:
    return CodingDomain(cache=str(tmp_path_factory.mktemp("outcomes")))


async def play(
    domain: CodingDomain,
    seed: int = 0,
    advice: str = "",
    task: Task = TASK,
    agent: Repair | None = None,
) -> list[Step]:
    world = domain.world(task, seed)
    player = (agent or Repair()).start(Seat(task.goal, seed))
    seen, steps = world.reset(), []
    player.advise(advice)
    while not seen.done:
        action = await player.act(seen)
        seen = world.step(action)
        steps.append(Step(action, seen.text, (), seen.reward, seen.done))
    return steps


async def length(domain: CodingDomain, advice: str) -> float:
    """Steps taken, on average: the sooner the repair is found, the fewer."""
    return sum([len(await play(domain, seed, advice)) for seed in SEEDS]) / len(SEEDS)


async def test_right_advice_helps_wrong_advice_hurts_irrelevant_advice_does_nothing(
    domain: CodingDomain,
) -> None:
    untold = await length(domain, "")
    assert await length(domain, RIGHT) < untold
    assert await length(domain, WRONG) > untold
    assert await length(domain, IRRELEVANT) == untold


async def test_the_edit_that_worked_can_be_read_in_the_episode(domain: CodingDomain) -> None:
    steps = await play(domain, advice=RIGHT)
    edit, run, submit = steps[-3:]
    assert "+ 1" in json.loads(edit.action)["replace"]
    assert "exit code 0" in run.observation
    assert (json.loads(submit.action)["action"], submit.reward) == ("submit", 1.0)
    transcript = "\n".join(f"> {step.action}\n{step.observation}" for step in steps)
    trusted = [e for e in read_advice(transcript).edits if e.trust == 1.0]
    assert [e.new for e in trusted] == [json.loads(edit.action)["replace"]]


async def test_the_oracles_words_are_followed(domain: CodingDomain) -> None:
    steps = await play(domain, advice=domain.oracle(TASK))
    assert (steps[-1].reward, len(steps)) == (1.0, 5)  # run, read, edit, run, submit


async def test_the_same_seed_plays_the_same_and_others_do_not(domain: CodingDomain) -> None:
    assert await play(domain, 1) == await play(domain, 1)
    episodes = {tuple(step.action for step in await play(domain, seed)) for seed in SEEDS}
    assert len(episodes) > 1


async def test_what_does_not_help_is_taken_back(domain: CodingDomain) -> None:
    steps = await play(domain, 0, WRONG)
    actions = [json.loads(step.action)["action"] for step in steps]
    edits = [i for i, action in enumerate(actions) if action == "edit_file"]
    assert len(edits) > 1
    for place in edits[:-1]:
        assert actions[place + 1 : place + 3] == ["run_command", "undo"]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("while d * d < n:", "while d * d <= n:", "boundary"),
        ("range(1, n)", "range(1, n + 1)", "off by one"),
        ("return a + b", "return a - b", "operator"),
        ("if a == b:", "if a != b:", "condition"),
        ("key = name", "key = name.strip().lower()", "text"),
        ("return sorted(xs)", "return sorted(xs, reverse=True)", "order"),
        ("rows = given", "rows = list(given)", "copy"),
        ("return x / n", "if not n:\n    return 0\nreturn x / n", "guard"),
        ("def f(a, n=3):", "def f(a, n=2):", "constant"),
        ("f(a, b)", "f(b, a)", "arguments"),
    ],
)
def test_kinds_of_repair(old: str, new: str, kind: str) -> None:
    assert signature(old, new).kind == kind


@pytest.mark.parametrize(
    "advice",
    [
        '1. {"action": "edit_file", "path": "a.py", "find": "x < y", "replace": "x <= y"}',
        'edit_file a.py {"find": "x < y", "replace": "x <= y"}',
        json.dumps({"steps": [{"path": "a.py", "old": "x < y", "new": "x <= y"}]}),
        json.dumps({"lesson": '{"path": "a.py", "find": "x < y", "replace": "x <= y"}'}),
        "--- a.py\n+++ a.py\n-x < y\n+x <= y",
        "In a.py, line 3, change\nx < y\ninto\nx <= y",
    ],
    ids=["action", "line", "json", "text in json", "diff", "words"],
)
def test_an_edit_is_read_in_many_forms(advice: str) -> None:
    (edit,) = read_advice(advice).edits
    assert (edit.old, edit.new, edit.trust) == ("x < y", "x <= y", 1.0)
    assert read_advice(advice).kinds == {"boundary": 1.0}


def test_an_edit_that_was_taken_back_counts_for_nothing() -> None:
    good = '{"find": "a + b", "replace": "a - b"}'
    bad = '{"find": "x < y", "replace": "x <= y"}'
    read = read_advice(f'{bad}\n2 failed\n{{"action": "undo"}}\n{good}\n(exit code 0)\nsubmit')
    assert read.kinds == {"operator": 1.0}


def test_words_alone_name_kinds_and_functions() -> None:
    read = read_advice("This project forgets to strip spaces; look at parse_line.")
    assert set(read.kinds) == {"text"}
    assert "parse_line" in read.names


def test_a_setting_changes_the_fingerprint() -> None:
    assert Repair().fingerprint == Repair().fingerprint != Repair(kind=0).fingerprint


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("return 0", 'raise ValueError("empty")', "guard"),
        ("if value:", "if value is not None:", "missing"),
        ("total = hours * 60", "total = hours * 3600", "unit"),
        ("return price", "return price * 100", "unit"),
        ("return a // b", "return -(-a // b)", "rounding"),
        ("return a // b", "return a / b", "rounding"),
        ("return rows", "return rows[::-1]", "order"),
        ("rows.append(x)", "rows.insert(0, x)", "order"),
    ],
)
def test_more_kinds_of_repair(old: str, new: str, kind: str) -> None:
    assert signature(old, new).kind == kind


def test_a_substitution_of_another_program_is_made_wherever_its_tokens_stand() -> None:
    found = read_advice(json.dumps({"find": "a = b * 60", "replace": "a = b * 86400"}))
    module = Module("m.py", "def f(x, y):\n    return x * 60 + y * 600 + 60\n")
    changes = list(substituted(module, module.functions[0], found.substitutions))
    assert [module.text[start:end] + ">" + new for start, end, new in changes] == ["60>86400"] * 2


def test_names_of_another_program_are_not_put_in() -> None:
    own = json.dumps({"find": "return total", "replace": "return price"})
    assert read_advice(own).substitutions == []
