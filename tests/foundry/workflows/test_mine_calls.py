"""Repeats among structured calls, over several lines of the user, and what is no repeat at all."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.foundry.words import Flow, Outcome, Trace, Use, filled
from metamem.foundry.workflows.antiunify import generalise
from metamem.foundry.workflows.match import by_step, matches
from metamem.foundry.workflows.mine import mine
from tests.foundry.workflows.planted import WORDS

Call = tuple[str, dict[str, Any], str]


def dialogue(name: str, *lines: tuple[str, list[Call]], success: bool = True) -> Trace:
    """What a user said, line by line, and the calls that each line led to."""
    uses, prompts = [], {}
    for at, (said, calls) in enumerate(lines):
        prompts[f"p{at}"] = said
        for tool, arguments, answer in calls:
            uses.append(Use(f"{name}-{len(uses)}", tool, arguments, answer, failed=False, prompt=f"p{at}"))  # fmt: skip
    outcome = Outcome("tests", success, 0.9)
    return Trace("t/project/p", "host", name, tuple(uses), prompts, outcome)


def noise(random: Random) -> Call:
    return f"make_{random.choice(WORDS)}", {"of": random.choice(WORDS)}, ""


def moved(seed: int, sessions: int = 14) -> list[Trace]:
    """Orders of a customer are looked up, some of them are moved to another day, and a note is left."""
    random = Random(seed)
    made = []
    for n in range(sessions):
        user, day = (
            f"{random.choice(WORDS)}_{random.randint(100, 999)}",
            f"2024-05-{random.randint(10, 28)}",
        )
        orders = [f"Q{random.randint(1000, 9999)}" for _ in range(random.randint(2, 4))]
        some = random.sample(orders, random.randint(1, 2))
        token = f"{random.getrandbits(24):06x}"
        lines: list[tuple[str, list[Call]]] = [
            (f"Hello, I am {user}.", [("get_user", {"user_id": user}, json.dumps({"orders": orders}))]),
            ("The ones of the garden, please.", []),
            (f"Yes, to {day}.", [("move_order", {"order_id": o, "day": day}, f'{{"token": "{token}"}}')
                                 for o in some]),
            ("Thank you.", [("send_note", {"user_id": user, "token": token}, "ok")]),
        ]  # fmt: skip
        for _, calls in lines:
            if random.random() < 0.3:
                calls.insert(0, noise(random))
        made.append(dialogue(f"d{n}", *lines))
    others = [dialogue(f"o{n}", ("Something.", [noise(random) for _ in range(random.randint(2, 6))]))
              for n in range(14)]  # fmt: skip
    return made + others


def test_a_chore_of_calls_over_several_lines_is_found_with_its_values_and_can_be_done_again() -> (
    None
):
    right = 0
    for seed in range(20):
        traces = moved(seed)
        found = mine(traces)
        right += any(is_moving(workflow) for workflow in found)
        known = {trace.session: trace for trace in traces}
        for workflow in found:
            for one in workflow.occurrences:
                assert by_step(workflow, one, known[one.session]) is not None
    assert right >= 19, right


def is_moving(workflow: Any) -> bool:
    tools = [step.tool for step in workflow.steps]
    parameters = {p.name: p for p in workflow.parameters}
    return (
        tools == ["get_user", "move_order", "send_note"]
        and [bool(step.each) for step in workflow.steps] == [False, True, False]
        and not any(step.optional for step in workflow.steps)
        and set(parameters) == {"user_id", "order_id", "day", "token"}
        and parameters["order_id"].kind == "list"
    )


def test_a_known_one_is_found_in_a_new_dialogue() -> None:
    workflow = next(filter(is_moving, mine(moved(3))))
    hits = [matches(workflow, trace) for trace in moved(50)]
    assert sum(map(bool, hits[:14])) >= 12 and not any(hits[14:])


def test_a_value_goes_from_an_answer_into_a_call() -> None:
    workflow = next(
        w
        for seed in range(5)
        for w in mine(
            [dialogue(f"s{n}", ("Pay.", [("open_bill", {"of": WORDS[n % 9]}, f'{{"bill": "b-{n * 37}"}}'),
                                         ("pay_bill", {"bill_id": f"b-{n * 37}"}, "paid")]))
             for n in range(24)] + moved(seed)[14:]
        )
    )  # fmt: skip
    flows = {p.name: p.flow for p in workflow.parameters}
    assert flows["bill_id"] == Flow(0, '{"bill": "', '"')


def sessions(lines: list[list[str]]) -> list[Trace]:
    return [
        dialogue(f"s{n}", ("Do it.", [("Bash", {"command": line}, "") for line in some]))
        for n, some in enumerate(lines)
    ]


def script(random: Random) -> str:
    body = "\n".join(f"{random.choice(WORDS)}({random.choice(WORDS)!r})" for _ in range(12))
    return f"cat <<'EOF' > {random.choice(WORDS)}.py\n{body}\nEOF"


def test_what_is_composed_anew_each_time_is_no_chore() -> None:
    random = Random(1)
    composed = [[script(random), "python probe.py", f"tool{n % 7} --fix x"] for n in range(14)]
    assert mine(sessions(composed)) == []
    control = [
        ["unlock --all", *some[2:], f"lock {WORDS[n]}.key"] for n, some in enumerate(composed)
    ]
    assert len(mine(sessions(control))) == 1


def test_what_only_looks_is_no_chore() -> None:
    random = Random(2)
    looks = [[f"grep -rn {random.choice(WORDS)} src", f"curl -s http://api/{n}", "find . -name x -exec cat {} +",
              f"tool --version; nl -ba {random.choice(WORDS)}.py"] for n in range(14)]  # fmt: skip
    assert mine(sessions(looks)) == []


def test_things_that_belong_together_in_no_order_are_no_chore() -> None:
    for seed in range(30):
        random = Random(seed)
        mixed = []
        for n in range(30):
            topic = [f"web{k} --go {random.choice(WORDS)}" for k in range(3)] if n % 2 else []
            others = [f"tool{random.randrange(20)} --go x" for _ in range(4)]
            mixed.append(random.sample([*topic, *others], len(topic) + 4))
        assert mine(sessions(mixed)) == []


def test_several_chores_in_a_session_are_several_workflows() -> None:
    random = Random(4)
    traces = []
    for n in range(24):
        a, b = random.sample(WORDS, 2)
        first = (
            f"release {a}",
            [("Bash", {"command": f"{p} --for {a}"}, "") for p in ("mint", "seal", "ship")],
        )
        second = (
            f"now archive {b}",
            [("Bash", {"command": f"{p} --at {b}"}, "") for p in ("pack", "lock")],
        )
        noisy = ("and this", [noise(random) for _ in range(6)])
        traces.append(dialogue(f"s{n}", *random.sample([first, noisy, second], 3)))
    found = mine(traces)
    assert sorted(len(workflow.steps) for workflow in found) == [2, 3]
    assert all(len(workflow.occurrences) == 24 for workflow in found)


def test_another_spelling_is_no_value() -> None:
    random = Random(5)
    lines = [
        [f"mkdir -p {'keys/' if n % 4 else 'keys'}", f"sign --out keys/{random.choice(WORDS)}.pem"]
        for n in range(24)
    ]
    noisy = [[f"tool{random.randrange(30)} x" for _ in range(4)] for _ in range(24)]
    (workflow,) = mine(sessions([*lines, *noisy]))
    assert len(workflow.occurrences) == 18 and len(workflow.parameters) == 1


ids = st.from_regex(r"(?:card|gift)_[0-9]{3}", fullmatch=True)
rows = st.lists(st.tuples(ids, ids, st.integers(0, 9)), min_size=2, max_size=6, unique=True)


@settings(max_examples=100, deadline=None)
@given(rows)
def test_an_id_is_one_value_unless_a_part_of_it_stands_elsewhere(
    rows: list[tuple[str, str, int]],
) -> None:
    done = [
        [[{"pay": a, "date": f"2024-05-{n}"}], [{"pay": b, "on": [f"2024-05-{n}", a]}]]
        for a, b, n in rows
    ]
    general = generalise(done)
    assert general is not None
    for row, values in zip(done, general.values, strict=True):
        assert [[filled(step, values)] for step in general.steps] == row
    dates = {str(n) for _, _, n in rows}
    if len(dates) > 1:
        assert any(values.get("date", "").startswith("2024") for values in general.values)


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_nothing_is_found_among_calls_that_never_repeat(seed: int) -> None:
    random = Random(seed)
    null = [
        dialogue(f"o{n}", *((f"line {k}", [noise(random) for _ in range(3)]) for k in range(3)))
        for n in range(30)
    ]
    assert mine(null) == []
