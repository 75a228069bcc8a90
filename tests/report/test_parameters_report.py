"""The report of a run that learned parameters: its values, its rewards, and no word of memories."""

import json
import re

import pytest

import metamem
from metamem.api import open_home
from metamem.core import registry
from metamem.core.types import Design
from metamem.domains.dials import DialsDomain
from metamem.evaluation.jobs import Spec
from metamem.report.page import render_report
from metamem.report.plots.differences import differences_plot
from metamem.report.plots.search import search_plot
from metamem.report.plots.svg import reward_ticks
from metamem.report.reproduce import beyond_options, command_line
from metamem.report.values import ABSENT, learned_values
from metamem.runs.explanation import Worth
from metamem.runs.summary import Summary
from metamem.search.learnables.parameters import shown
from tests.report.page import Page
from tests.report.test_plots import proposal

SPACE, SCALE = DialsDomain.space, metamem.core.figures.Scale(-20.0, 20.0)
OF_MEMORIES = re.compile(
    r"success|memor|advice|token|retriev|jail|oracle|points|recombin|agent|episode", re.I
)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The run's summary and its report."""
    home = tmp_path_factory.mktemp("dials")
    found = metamem.learn("dials", home=home, executor=Spec("inline"), designs=24)
    with open_home(home) as archive:
        run = archive.run(found.run_id)
        return run, Summary.from_json(run.summary), render_report(archive, found.run_id), found


def section(source, name):
    return re.findall(rf'<section id="{name}">(.*?)</section>', source, re.DOTALL)


def test_rewards_are_shown_as_they_are(told):
    _, summary, source, _ = told
    page = Page(source)
    assert not page.problems
    assert not OF_MEMORIES.search(page.text.split("Reproduce", 1)[1])
    (results,) = section(source, "results")
    row = summary.row("test")
    for figure in (f"{row.mean:.2f}", f"{row.low:.2f} … {row.high:.2f}"):
        assert figure in results
    assert '<th scope="col" class="n">watts</th>' in results
    assert f'<td class="n">{row.costs["watts"]:.2f}</td>' in results
    assert "On test it reaches " + f"{row.mean:.2f};" in page.text
    luck = summary.by_luck("test")
    assert luck.name == "random values"
    against = "Against random values at the same budget the difference is"
    assert f"{against} {luck.comparison.gain:+.2f} on test" in page.text
    (gate,) = section(source, "gate")
    for words in (results, gate):
        numbers = re.findall(r'<td class="n">([-+]?\d+\.\d\d)\b', words)
        assert numbers and all(abs(float(number)) <= 40 for number in numbers)


def test_every_value_stands_beside_its_default_with_its_worth(told):
    _, summary, source, found = told
    (design,) = section(source, "design")
    assert not section(source, "code") and not section(source, "episodes")
    values = json.loads(found.learned.source)
    for name, parameter in SPACE.parameters.items():
        (line,) = re.findall(rf"<tr><td>{name}</td>(.*?)</tr>", design)
        assert f'<td class="n">{shown(parameter.default)}</td>' in line
        if values.get(name, parameter.default) != parameter.default:
            assert "<strong>" in line
    (best, *_) = summary.explanation.parts
    (line,) = re.findall(rf"<tr><td>{best.what.split(' = ')[0]}</td>(.*?)</tr>", design)
    assert f"{best.gain:+.2f}" in line and f"{best.low:+.2f} … {best.high:+.2f}" in line


def test_values_without_their_domain_and_values_that_do_not_hold():
    worth = Worth("gain = 2, not 1", "d", 0.5, 0.4, 0.6)
    design = SPACE.design(SPACE.completed({"gain": 2.0}))
    lines = {value.name: value for value in learned_values(design, None, SPACE, [worth])}
    assert lines["width"].learned == ABSENT and "only where 'filter'" in lines["width"].allowed
    assert lines["gain"].worth == worth and lines["gain"].changed and not lines["stages"].changed
    alone = learned_values(design, Design('{"gain":1.5}', "params"), None, [])
    assert {value.name for value in alone} == set(json.loads(design.source))
    assert {value.default for value in alone} == {""}
    assert [value.parent for value in alone if value.name == "gain"] == ["1.5"]


def test_a_report_can_do_without_its_domain(told, tmp_path, monkeypatch):
    home = tmp_path
    found = metamem.learn("dials", home=home, executor=Spec("inline"), designs=6, control=False)
    monkeypatch.delitem(registry.BUILT_IN["domains"], "dials")
    with open_home(home) as archive:
        source = render_report(archive, found.run_id)
    assert "The learned values" in source and not Page(source).problems


def test_the_command_that_repeats_it(told):
    run, *_ = told
    assert command_line(run.config) == "metamem learn dials --seed 0 --designs 24"
    assert beyond_options(run.config) == {"selector.settings": {"most": 1}}
    other = {**run.config, "proposer": {"name": "sample", "settings": {}}}
    assert command_line(other).endswith("--proposer sample")


def test_plots_of_other_rewards_than_shares():
    plot = str(
        search_plot([proposal(0, -5.5), proposal(1, 25.0, complete=False)], [], None, rewards=SCALE)
    )
    words = Page(plot).text
    assert "reward on train" in words and "-5.50" in words and "%" not in words
    assert all(-20 <= mark <= 20 for mark in reward_ticks(-30, 30, SCALE))
    bars = Page(str(differences_plot({"a": 8.0, "b": -4.0}, {}, "other", SCALE)))
    high, low = [float(a["height"]) for tag, a in bars.elements if tag == "rect"]
    assert high == pytest.approx(2 * low)
    assert "+2.00" in bars.text and "points" not in bars.text
