"""What is repeated is found, with its parameters and flows; where nothing is, nothing is."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.foundry.words import Flow, Outcome, Trace, Use, Workflow, filled
from metamem.foundry.workflows.antiunify import generalise
from metamem.foundry.workflows.flows import located
from metamem.foundry.workflows.match import by_step, matches
from metamem.foundry.workflows.mine import mine
from tests.foundry.workflows.planted import null, planted


def is_right(workflow: Workflow) -> bool:
    steps = [str(step.arguments) for step in workflow.steps]
    flows = [p.flow for p in workflow.parameters if p.flow is not None]
    asked = [p for p in workflow.parameters if p.flow is None]
    return (
        [next((k for k in ("vault", "convert", "lint", "deploy", "git tag") if k in s), "") for s in steps]
        == ["vault", "convert", "lint", "deploy", "git tag"]
        and [step.optional for step in workflow.steps] == [False, False, True, False, False]
        and bool(workflow.steps[1].each)
        and flows == [Flow(0, "token: ", "")]
        and len(asked) == 2  # the name and the files
    )  # fmt: skip


def test_a_planted_workflow_is_found_in_95_of_100_seeds() -> None:
    right = 0
    for seed in range(100):
        found = mine(planted(seed))
        right += any(map(is_right, found))
    assert right >= 95, right


def test_nothing_is_found_where_nothing_repeats() -> None:
    assert [seed for seed in range(100) if mine(null(seed))] == []


def test_the_order_of_traces_makes_no_difference_and_places_give_themselves_back() -> None:
    traces = planted(3)
    found = mine(traces)
    shuffled = list(traces)
    Random(1).shuffle(shuffled)
    assert [w.id for w in mine(shuffled)] == [w.id for w in found] != []
    known = {trace.session: trace for trace in traces}
    for workflow in found:
        for occurrence in workflow.occurrences:
            assert by_step(workflow, occurrence, known[occurrence.session]) is not None


def test_a_known_workflow_is_found_in_a_new_trace_and_in_a_beginning() -> None:
    workflow = next(filter(is_right, mine(planted(3))))
    hits = [matches(workflow, trace) for trace in planted(77)[:14]]
    assert sum(bool(one) for one in hits) >= 12
    assert not any(matches(workflow, trace) for trace in null(5))


@pytest.mark.parametrize(
    ("tool", "shown"),
    [
        ("Read", "     1→[project]\n     2→version = \"{}\"\n\n<system-reminder>\nBe kind.\n</system-reminder>"),
        ("Read", "     1\t[project]\n     2\tversion = \"{}\""),
        ("read", "<file>\n00001| [project]\n00002| version = \"{}\"\n\n(End of file - total 2 lines)\n</file>"),
        ("read", "<path>a.toml</path>\n<content>\n1: [project]\n2: version = \"{}\"\n\n(End of file)\n</content>"),
        ("read_file", "[project]\nversion = \"{}\""),
    ],
)  # fmt: skip
def test_what_a_host_shows_of_a_file_flows_as_the_file_has_it(tool: str, shown: str) -> None:
    traces = []
    for n in range(6):
        old, new, name = f"0.{n}.1", f"0.{n + 1}.1", f"s{n}"
        edited = {
            "file_path": "a.toml",
            "old_string": f'version = "{old}"',
            "new_string": f'version = "{new}"',
        }
        uses = (
            Use(f"{name}-0", tool, {"file_path": "a.toml"}, shown.format(old), failed=False, prompt="p"),
            Use(f"{name}-1", "Edit", edited, "changed", failed=False, prompt="p"),
            Use(f"{name}-2", "Bash", {"command": f"git tag v{new}"}, "", failed=False, prompt="p"),
        )  # fmt: skip
        goals, ended = {"p": f"release {new}"}, Outcome("commit", True, 0.7)
        traces.append(Trace("t/project/p", "host", name, uses, goals, ended))
    (workflow,) = mine(traces)
    (flow,) = [p.flow for p in workflow.parameters if p.flow is not None]
    assert flow.step == 0
    assert located('[project]\nversion = "7.0.1"\n', flow) == "7.0.1"  # as a program reads it


words = st.text("ab_-./ '\"\\1", max_size=8)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(words, words, st.integers(0, 3)), min_size=2, max_size=5))
def test_a_template_with_its_values_is_what_it_was_made_of(
    rows: list[tuple[str, str, int]],
) -> None:
    done = [
        [[{"command": f"make {a} && cp {a} {b}"}], [{"n": n, "note": [a, f"x {b}"]}]]
        for a, b, n in rows
    ]
    general = generalise(done)
    assert general is not None
    for row, values in zip(done, general.values, strict=True):
        assert [[filled(step, values)] for step in general.steps] == row


@pytest.mark.parametrize("files", [[["a.py"], ["b.py", "c.py"], ["a.py", "d.py"]]])
def test_a_loop_gives_back_every_round(files: list[list[str]]) -> None:
    general = generalise([[[{"command": f"fmt {f}"} for f in some]] for some in files])
    assert general is not None and general.each[0]
    for some, values in zip(files, general.values, strict=True):
        rounds = [
            filled(general.steps[0], {**values, general.each[0]: i})
            for i in values[general.each[0]]
        ]
        assert rounds == [{"command": f"fmt {f}"} for f in some]


SAID = ["fix", "fix the tax, and more", "it's a begin (again)"]


@pytest.mark.parametrize(
    ("line", "values", "shown"),
    [
        ('git commit -m "{}"', SAID, 'git commit -m "…"'),
        ("echo '- {}' >> notes", ["paging", "dark-mode", "b2b!"], "echo '- …' >> notes"),
        ('echo "--{}"', ["a", "b-c"], 'echo "--…"'),
        # The shell makes something else of these than what stands there.
        ('echo "{}"', ["a", "$b", "c-d"], "echo …"),
        ('echo "${}"', ["a", "b-c"], "echo …"),
        ("echo {}", ["'a b'", '"c"', "'d-e'"], "echo …"),
        ("echo {}", ["'a'b'c'", "'d'"], "echo …"),
    ],
)
def test_quotes_that_are_always_there_are_no_part_of_what_stands_in_them(
    line: str, values: list[str], shown: str
) -> None:
    rows = [[[{"command": line.format(value)}]] for value in values]
    general = generalise(rows)
    assert general is not None
    (name,) = (parameter.name for parameter in general.parameters)
    assert filled(general.steps[0], {name: "…"}) == {"command": shown}
    for row, given_ in zip(rows, general.values, strict=True):
        assert [[filled(general.steps[0], given_)]] == row
