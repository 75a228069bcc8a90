"""Plots: everything lies on the page, whatever the numbers are."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metamem.core.figures import SHARES, percent, points
from metamem.evaluation.statistics import HolmComparison
from metamem.report.journal import Journal
from metamem.report.plots.differences import differences_plot
from metamem.report.plots.family import WHOLE, family_plot
from metamem.report.plots.forest import forest_plot
from metamem.report.plots.search import search_plot
from metamem.report.plots.svg import element, reward_ticks, ticks
from metamem.runs.table import TableRow
from metamem.store.archive import ProposalRecord
from tests.report.page import Page

finite = st.floats(-1e6, 1e6)
LEARNED = TableRow(
    name="learned", design="d", evaluation="e", human=False, tasks=40, mean=0.5, low=0.4, high=0.6,
    tokens=10.0, seconds=0.1, retrieve_ms=1.0, failures=0,
)  # fmt: skip


@given(finite, finite)
@example(0.0, 5e-324)
@example(1e6, 1e6 + 1e-9)
def test_ticks_cover_the_range_and_are_few(a, b):
    low, high = min(a, b), max(a, b)
    marks = ticks(low, high)
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    assert marks[0] <= low + slack and marks[-1] >= high - slack
    assert 2 <= len(marks) <= 12
    assert marks == sorted(marks)


@given(st.floats(-60, 160), st.floats(-60, 160))
def test_shares_of_successes_have_no_axis_beyond_0_and_100(a, b):
    marks = reward_ticks(min(a, b), max(a, b), SHARES)
    assert marks[0] >= 0 and marks[-1] <= 100
    assert marks[0] <= max(0, min(a, b, 100)) and marks[-1] >= min(100, max(a, b, 0))
    assert 2 <= len(marks) <= 12


def test_an_estimate_below_zero_leaves_the_axis_at_zero():
    plot = str(search_plot([proposal(0, 0.4), proposal(1, -0.07, complete=False)], [], None))
    words = Page(plot).text
    assert "-" not in re.sub(r"-7\.0 %", "", words)  # only the dot's own title tells the figure
    forest = forest_plot({"test": [row("a", -0.4, 0.1)]})
    assert "-40" in str(forest)  # gains may well be negative


def row(name, low, high):
    """A design that the learned one was compared with."""
    gain = (low + high) / 2
    compared = HolmComparison(
        n=40, mean_a=0.5 + gain, mean_b=0.5, gain=gain, se=0.1, low=low, high=high, confidence=0.95,
        p_permutation=0.01, permutation_method="exact", p_t=0.01, effect_size=None, superiority=0.5,
        power_hint="", p_holm=0.02,
    )  # fmt: skip
    return replace(LEARNED, name=name, comparison=compared)


def proposal(ordinal, mean, parents=(), operator="adopt", complete=True):
    estimate = {"mean": mean, "se": 0.1, "n": 10, "complete": complete}
    return ProposalRecord(
        "run", ordinal, f"{ordinal:032x}", parents, "p", operator, "", "accepted", estimate=estimate
    )


@given(st.lists(st.tuples(st.floats(-0.2, 1.2), st.booleans()), min_size=1, max_size=30))
def test_every_design_has_its_dot_on_the_page(scores):
    proposals = [proposal(n, mean, complete=whole) for n, (mean, whole) in enumerate(scores)]
    page = Page(str(search_plot(proposals, [], proposals[-1].design_id)))
    dots = [attrs for tag, attrs in page.elements if tag == "circle"]
    assert len(dots) == len(proposals)
    for dot in dots:
        assert 0 <= float(dot["cx"]) <= 900 and 0 <= float(dot["cy"]) <= 340
    hollow = sum(dot["class"] == "dot-raced" for dot in dots)
    others = [whole for _, whole in scores[:-1]]
    assert hollow == others.count(False)


def test_the_best_so_far_never_falls_and_takes_no_estimate_for_a_score():
    means = [(0.2, True), (0.9, False), (0.5, True), (0.3, True), (0.6, True)]
    plot = str(
        search_plot([proposal(n, m, complete=c) for n, (m, c) in enumerate(means)], [], None)
    )
    (points,) = re.findall(r'points="([^"]+)"', plot)
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert heights == sorted(heights, reverse=True)  # up on the page is a smaller number
    assert len(set(heights)) == 3


def chain(length):
    first = proposal(0, 0.1, operator="human")
    return Journal(
        (first, *(proposal(n, 0.2, (f"{n - 1 - n % 2:032x}",)) for n in range(1, length)))
    )


def test_a_small_family_is_shown_whole_and_the_line_is_marked():
    journal = chain(20)
    line = journal.lineage(f"{19:032x}")
    page = Page(str(family_plot(journal, line[0], {})))
    assert sum(tag == "circle" for tag, _ in page.elements) == 20
    marked = [a for tag, a in page.elements if tag == "text" and "marked" in (a["class"] or "")]
    assert len(marked) == len(line) > 3


def test_a_great_family_shows_the_line_and_counts_what_it_hides():
    journal = chain(WHOLE * 3)
    learned = f"{1:032x}"
    page = Page(str(family_plot(journal, learned, {})))
    assert sum(tag == "circle" for tag, _ in page.elements) < WHOLE
    assert "descendants not shown" in page.text
    assert "the learned design" in page.text


def test_a_loop_in_the_parents_does_not_hang():
    one, two = proposal(0, 0.1, (f"{1:032x}",)), proposal(1, 0.1, (f"{0:032x}",))
    assert len(Journal((one, two)).lineage(one.design_id)) == 2


@given(st.dictionaries(st.text(max_size=8), st.floats(-1, 1), min_size=1, max_size=40))
def test_differences_have_a_bar_a_task(gains):
    kinds = {task: "kind " + task[:1] for task in gains}
    page = Page(str(differences_plot(gains, kinds, "other")))
    bars = [attrs["class"] for tag, attrs in page.elements if tag == "rect"]
    assert bars.count("bar-won") == sum(g > 0 for g in gains.values())
    assert bars.count("bar-lost") == sum(g < 0 for g in gains.values())
    assert bars.count("bar-tied") == sum(g == 0 for g in gains.values())


def test_a_forest_names_every_rival_and_what_is_sure():
    rows = [row("a", 0.1, 0.3), row("b", -0.1, 0.1), row("c", -0.5, -0.2), LEARNED]
    page = Page(str(forest_plot({"test": rows})))
    middles = [attrs["class"] for tag, attrs in page.elements if tag == "rect"]
    assert middles == ["middle sure", "middle unsure", "middle worse"]
    assert "learned (test)" not in page.text
    assert forest_plot({"test": [LEARNED]}) == ""


@given(st.text(), st.text())
def test_elements_escape_attributes_and_text(value, words):
    page = Page(str(element("text", words, class_=value)))
    assert not page.problems
    assert [tag for tag, _ in page.elements] == ["text"]


@given(st.floats(-1, 1))
def test_figures_know_no_minus_zero(value):
    assert points(value) != "-0.0" and percent(value) != "-0.0"
    assert float(points(value)) == float(percent(value)) == pytest.approx(100 * value, abs=0.051)
