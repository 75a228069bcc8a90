"""Designs with growing memory and with other agents: a planted signal is found, and nothing else."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metamem as api
from metamem.api import open_home
from metamem.core.errors import AllowanceSpent, UsageError
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.models.allowance import Allowance
from metamem.report.plots.curve import HEIGHT, LABEL, WIDTH, _spread, curve_plot
from metamem.runs.swept import Curve, CurveLine
from metamem.runs.table import TableRow

INLINE = Spec("inline")
SIZES = [0, 4, 12, 40]
ENOUGH = 12
NEEDY = f'''
from metamem.designs import Memory


class Needy(Memory):
    """Tells what lay behind which door, but only once it has seen enough."""

    def __init__(self, tools):
        self.seen, self.lines = 0, {{}}

    async def update(self, experience):
        self.seen += 1
        for step in experience.steps:
            if step.observation.startswith("Behind the"):
                door, _, thing = step.observation[len("Behind the "):].rstrip(".").partition(" door: ")
                self.lines.setdefault(thing, f"to take the {{thing}}: open the {{door}} door")

    async def retrieve(self, query):
        if self.seen < {ENOUGH}:
            return ""
        return "\\n".join(line for thing, line in self.lines.items() if thing in query.goal)
'''


@pytest.fixture(scope="module")
def needy(tmp_path_factory):
    path = tmp_path_factory.mktemp("design") / "needy.py"
    path.write_text(NEEDY)
    return str(path)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("sweeps")


@pytest.fixture(scope="module")
def grown(home, needy):
    return api.curve([needy, "no_memory"], "toy", SIZES, home=home, executor=INLINE)


@pytest.fixture(scope="module")
def carried(home, needy):
    agents = ["reader", "random"]
    return api.transfer(needy, "toy", agents, home=home, executor=INLINE)


def points(found, name):
    return next(row.points for row in found.rows if row.name == name)


def test_a_design_that_needs_experience_rises_when_it_has_enough(grown, needy):
    nothing, little, enough, much = points(grown, needy).values()
    assert nothing.mean == little.mean < enough.mean
    assert much.comparison.gain > 0.2 and much.comparison.low > 0
    assert much.comparison.p_holm < 0.01
    assert nothing.comparison is None  # it is what the others are compared with


def test_without_memory_the_curve_is_flat(grown):
    found = list(points(grown, "no_memory").values())
    assert len({point.mean for point in found}) == 1
    assert all(p.comparison.gain == 0 and p.comparison.p_holm == 1 for p in found[1:])


def test_each_size_collects_the_first_tasks_of_the_next(grown, home, needy):
    with open_home(home) as archive:
        found = points(grown, needy).items()
        evaluations = {size: archive.evaluation(point.evaluation) for size, point in found}
    stored = {size: e.fingerprint.rules["collect"] for size, e in evaluations.items()}
    assert stored == {0: -1, 4: 4, 12: 12, 40: 40}
    played = [frozenset(row.case for row in e.rows) for e in evaluations.values()]
    assert len(set(played)) == 1  # the same tasks with the same luck, so gains are paired


def test_a_gain_with_one_agent_is_shown_beside_none_with_another(carried, needy):
    by_name = {row.name: row.cells for row in carried.rows}
    assert list(by_name) == ["no_memory", needy]
    assert all(cell.comparison is None for cell in by_name["no_memory"].values())
    gains = {agent: cell.comparison for agent, cell in by_name[needy].items()}
    assert gains["reader"].low > 0 and gains["reader"].p_holm < 0.01
    assert gains["random"].gain == 0 and gains["random"].p_holm == 1  # it reads no advice


def test_reads_of_test_are_in_the_ledger(grown, carried, home):
    with open_home(home) as archive:
        purposes = [read.purpose for read in archive.reads()]
    assert purposes.count("memory-size curve") == 2 * len(SIZES)
    assert purposes.count("transfer") == 4


def test_the_commands_tell_what_the_functions_found(metamem, grown, carried, home, needy, tmp_path):
    plot = tmp_path / "curve.svg"
    asked = ("--domain", "toy", "--workers", "1", "--home", home, "-q")
    told = metamem("curve", needy, "no_memory", "--sizes", "40,0,12,4", *asked, "--json")
    assert told.json["rows"] == grown.to_json()["rows"]  # from the archive: nothing is played again
    shown = metamem("curve", "no_memory", "--sizes", "0,4", "--plot", plot, *asked)
    assert shown.code == 0 and "+0.0 … +0.0" in shown.out and str(plot) in shown.out
    assert ET.parse(plot).getroot().tag.endswith("svg")
    told = metamem("transfer", needy, "--agents", "reader, random", *asked, "--json")
    assert told.json["rows"] == carried.to_json()["rows"]


@pytest.mark.parametrize("width", [40, 80, 130])
def test_the_table_of_agents_fits_any_screen(metamem, carried, home, needy, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    said = metamem("transfer", needy, "--domain", "toy", "--agents", "reader,random",
                   "--workers", "1", "--home", home, "-q")  # fmt: skip
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= width
    gain = carried.rows[1].cells["reader"].comparison.gain
    assert f"{100 * gain:+.1f}" in said.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["curve", "no_memory", "--sizes", "0,many"], "sizes are numbers"),
        (["curve", "no_memory", "--sizes", "5"], "two sizes or more between 0 and 40"),
        (["curve", "no_memory", "--sizes", "0,41"], "between 0 and 40"),
        (["curve", "no_memory", "--rollout", "thawed"], "known: frozen, streaming"),
        (["curve", "no_memory", "--collect", "5"], "--collect"),  # sizes say it
        (["transfer", "no_memory", "--agent", "reader"], "--agents"),  # there are several
        (["transfer", "no_memory", "--agents", ","], "which agents?"),
        (["transfer", "no_memory", "--agents", "reader,reader"], "each only once"),
        (["transfer", "no_memory", "--agents", "nobody"], "nobody"),
    ],
)
def test_wrong_input_is_refused_in_one_line(metamem, tmp_path, arguments, words):
    said = metamem(*arguments, "--domain", "toy", "--home", tmp_path / "none", "-q")
    assert said.code == 2 and words in said.err
    assert "Traceback" not in said.err


def test_where_tasks_are_in_groups_a_curve_counts_the_lives_of_others(tmp_path):
    with pytest.raises(UsageError, match="between 0 and 12"):
        api.curve("no_memory", "dialogue", [0, 50], home=tmp_path, executor=INLINE)


def first(question):
    return question.choices[0]


def second(question):
    return question.choices[-1]


def test_what_sizes_have_in_common_is_asked_of_a_model_once(tmp_path):
    play = {"home": tmp_path, "executor": INLINE, "agent": Spec("llm")}
    play["models"] = {"agent": f"scripted:{__name__}:first"}

    def asked():
        with open_home(tmp_path) as archive:
            return sum(s.attempts for s in archive.spending())

    api.evaluate("no_memory", "toy", "test", rules=Rules(collect=0), **play)
    alone = asked()
    api.curve("no_memory", "toy", [0, 3, 5], **play)
    assert alone < asked() <= alone + 5 * 4  # five collected episodes of four actions, no more


def test_one_allowance_holds_for_all_agents_together(tmp_path):
    one, two = (f"llm=scripted:{__name__}:{model.__name__}" for model in (first, second))
    play = {"executor": INLINE, "rules": Rules(collect=0)}

    def spent(home):
        with open_home(home) as archive:
            return sum(s.usage.total for s in archive.spending())

    api.transfer("no_memory", "toy", [one], home=tmp_path / "one", **play)
    enough_for_one = spent(tmp_path / "one") * 3 // 2
    both = {"home": tmp_path / "both", "allowance": Allowance(tokens=enough_for_one), **play}
    with pytest.raises(AllowanceSpent):
        api.transfer("no_memory", "toy", [one, two], **both)
    assert spent(tmp_path / "one") < spent(tmp_path / "both") <= enough_for_one


ROWS = st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=9)


@given(ROWS)
def test_every_point_lies_on_the_page(means):
    def point(mean):
        return TableRow(
            name="", design="", evaluation="", human=False, tasks=40, mean=mean,
            low=max(0, mean - 0.1), high=min(1, mean + 0.1), tokens=0, seconds=0, retrieve_ms=0,
            failures=0,
        )  # fmt: skip

    sizes = (0, 5, 40)
    rows = tuple(
        CurveLine(f"design {n} & <co>", "", dict(zip(sizes, map(point, own), strict=True)))
        for n, own in enumerate(means)
    )
    found = Curve("toy", "test", "reader", 40, Rules(), sizes, rows)
    page = ET.fromstring(str(curve_plot(found)))
    dots = [e for e in page.iter() if e.tag.endswith("circle")]
    assert len(dots) == 3 * len(rows)
    for dot in dots:
        assert 0 <= float(dot.get("cx")) <= WIDTH and 0 <= float(dot.get("cy")) <= HEIGHT


@given(st.lists(st.floats(64, 384), min_size=1, max_size=12))
def test_names_beside_the_lines_never_lie_on_one_another(heights):
    placed = sorted(_spread(heights))
    assert all(b - a >= LABEL - 1e-6 for a, b in pairwise(placed))
    assert placed[-1] <= HEIGHT and placed[0] > 0
