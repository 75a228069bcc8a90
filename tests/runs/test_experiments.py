"""Experiments: planted effects pass, nothing passes where there is nothing, each opens the next."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict

import pytest

import metamem
from metamem.api import open_home
from metamem.core.errors import UnknownName, UsageError
from metamem.core.figures import Scale
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import binomial_tail, tasks_needed
from metamem.promotion.evidence import PairedGain
from metamem.promotion.gate import Gate
from metamem.runs.experiments import Experiment, Terms, experiments
from metamem.runs.experiments.power import power_of_gain, power_of_growth
from metamem.runs.experiments.records import Plan, answers, standing
from metamem.runs.experiments.terms import LEVEL

INLINE = Spec("inline")
TOWNS, TIMELESS = "tests.runs.towns:Towns", "tests.runs.towns:Timeless"
HUMAN = "success_retrieval"
SILENT = '''
from metamem.designs import Memory


class Silent(Memory):
    """Never says a word."""

    async def update(self, experience):
        pass

    async def retrieve(self, query):
        return ""
'''


def play(home, hypothesis, domain=TOWNS, **how):
    told = []
    how = {"terms": Terms(pilot=10), "executor": INLINE, **how}
    return metamem.experiment(domain, hypothesis, home=home, tell=told.append, **how), told


def rows(home):
    with open_home(home) as archive:
        return sum(len(each.rows) for each in archive.evaluations())


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """H1, H2 and H3 where memory helps, in one archive."""
    home = tmp_path_factory.mktemp("chain")
    early = play(home, "H2")[0]
    first, told = play(home, "H1")
    second = play(home, "H2")[0]
    third = play(home, "H3", terms=Terms(budget=3, searched=12))[0]
    return home, early, (first, told), second, third


def test_a_planted_effect_of_memory_passes(chain):
    _, _, (first, _), _, _ = chain
    assert first.passed
    (best,) = first.result["candidates"]
    assert best["human"] and best["comparison"]["gain"] > 0.3
    assert first.result["pilot"][best["name"]] == max(first.result["pilot"].values())


def test_power_is_told_before_anything_is_played_and_again_after_the_pilot(tmp_path):
    seen = []

    def tell(text):
        there = (tmp_path / "archive.db").is_file()
        seen.append((text, rows(tmp_path) if there else 0))

    terms = Terms(pilot=10)
    metamem.experiment(TOWNS, "H1", home=tmp_path, terms=terms, executor=INLINE, tell=tell)
    power = [(text, played) for text, played in seen if text.startswith("Power: 40 tasks")]
    assert [("assumed" in text, "by a pilot of 10 tasks" in text) for text, _ in power] == [
        (True, False),
        (False, True),
    ]
    assert power[0][1] == 0
    pilot = power[1][1]
    assert 0 < pilot < rows(tmp_path)
    assert any("40 of test" in text for text, played in seen if played == 0)


def test_the_effect_that_one_would_like_to_see_stays_whatever_a_pilot_saw(chain):
    """The best of several gains that were seen is one that luck chose."""
    _, _, (first, _), _, _ = chain
    before, after = first.power
    assert (before.effect, after.effect) == (0.1, 0.1)
    assert after.needed == power_of_gain(after.tasks, after.level, after.spread, "", 0.1).needed


def test_a_plan_is_told_and_nothing_is_played_or_kept(tmp_path):
    found, told = play(tmp_path, "H1", only_plan=True)
    assert found.power and told
    assert rows(tmp_path) == 0
    assert found.state == "planned"
    with open_home(tmp_path) as archive:
        assert experiments(archive) == []


@pytest.mark.parametrize("hypothesis", ["H2", "H3"])
def test_a_plan_that_comes_too_early_tells_its_power_and_why_it_would_be_refused(
    tmp_path, hypothesis
):
    found, told = play(tmp_path, hypothesis, only_plan=True)
    (power,) = found.power
    assert power.known_from == "assumed" and power.told(Scale()) in told
    assert found.state == "refused" and "was not tested" in found.reason
    with open_home(tmp_path) as archive:
        assert experiments(archive) == []


def test_the_second_is_refused_until_the_first_has_passed(chain):
    home, early, _, second, _ = chain
    assert (early.state, second.state) == ("refused", "passed")
    assert "H1, which was not tested under these conditions" in early.reason
    with open_home(home) as archive:
        states = [(e.plan.hypothesis, e.state) for e in experiments(archive)]
    assert states == [("H2", "refused"), ("H1", "passed"), ("H2", "passed"), ("H3", states[3][1])]


def test_a_planted_rise_is_found(chain):
    _, _, _, second, _ = chain
    (best,) = second.result["candidates"]
    assert best["rise"] > 0.3
    assert best["trend"]["lower_bound"] > 0 and best["trend"]["p"] <= LEVEL
    assert second.result["streams"] == {f"town {n}": 40 for n in range(4)}
    assert [point["streams"] for point in best["curve"]] == [4] * 40
    early, late = best["curve"][:10], best["curve"][-10:]
    assert sum(p["gain"] for p in early) < sum(p["gain"] for p in late)
    assert "as it was when memory was seen to help" in second.power[0].known_from


def test_the_search_is_told_nothing_of_the_domain_and_decided_on_all_of_test(chain):
    home, _, _, _, third = chain
    assert third.state in ("passed", "not passed")
    assert third.result["tasks"] == 40
    with open_home(home) as archive:
        config = archive.run(third.result["search"]["run"]).config
        kept = {run.id for run in archive.runs()}
    assert config["hints"] is False
    assert config["rules"]["tasks"] == 12
    assert third.id in kept


def test_hints_make_it_another_experiment(chain):
    home, _, _, _, third = chain
    terms = Terms(budget=3, searched=12, hints=True)
    planned, told = play(home, "H3", terms=terms, only_plan=True)
    assert planned.id != third.id
    assert any("told about the domain" in text for text in told)


def test_other_conditions_open_nothing(chain):
    home, *_ = chain
    assert play(home, "H2", seed=1)[0].state == "refused"
    assert play(home, "H2", rules=Rules(advice_tokens=99))[0].state == "refused"
    assert play(home, "H2", domain_settings={"seed": 3})[0].state == "refused"


def test_the_same_again_is_what_came_of_it(chain):
    home, _, (first, _), _, _ = chain
    before = rows(home)
    again, _ = play(home, "H1")
    assert asdict(again) == asdict(first)
    assert rows(home) == before


def test_asking_again_in_another_way_is_told(chain):
    home, *_ = chain
    again, told = play(home, "H1", rules=Rules(tasks=35))
    assert again.state == "passed"
    (warning,) = again.warnings
    assert "was answered once before" in warning and "the first one counts" in warning
    assert f"Before you ask: {warning}." in told
    assert not play(home, "H1")[0].warnings


ALIKE = "conditions that two attempts share"


def attempt(number, state, hypothesis="H1", **more):
    plan = Plan("towns", {}, hypothesis, "?", {"all": ALIKE}, {"attempt": number})
    return Experiment(plan.id, plan, state, ended=f"2026-01-0{number}", **more)


def test_the_first_answer_counts_whatever_comes_after_it():
    """Who asks until it is yes hears yes in the end: twenty tries of nothing pass two times of three."""
    no, yes = attempt(1, "not passed"), attempt(2, "passed")
    under = no.plan.under
    for known in ([no, yes], [yes, no]):
        assert standing(known, "H1", under) == no
        assert answers(known, "H1", under) == [no, yes]
    first = attempt(1, "passed")
    assert standing([first, attempt(2, "not passed")], "H1", under) == first
    insisted = attempt(1, "passed", overridden="H0 has not passed")
    assert standing([insisted, attempt(1, "refused"), yes], "H1", under) == yes


def test_a_pass_after_a_failure_opens_nothing(tmp_path):
    silent = tmp_path / "silent.py"
    silent.write_text(SILENT)
    home = tmp_path / "home"
    assert not play(home, "H1", terms=Terms(designs=(str(silent),), pilot=4))[0].passed
    again, told = play(home, "H1")
    assert again.passed and any("the first one counts" in text for text in told)
    second, _ = play(home, "H2")
    assert second.state == "refused"
    assert "when it was asked first, and that is what counts" in second.reason


def test_where_memory_cannot_help_nothing_passes_and_nothing_is_opened(tmp_path):
    unfair = {"domain_settings": {"fair": False}}
    first, _ = play(tmp_path, "H1", **unfair)
    assert first.state == "not passed"
    second, _ = play(tmp_path, "H2", **unfair)
    assert second.state == "refused"
    assert "H1, which has not passed" in second.reason
    terms = Terms(designs=(HUMAN,), override=True)
    forced, _ = play(tmp_path, "H2", terms=terms, **unfair)
    assert forced.state == "not passed"
    assert "H1, which has not passed" in forced.overridden


def test_what_somebody_insisted_on_is_marked_and_opens_nothing(tmp_path):
    terms = Terms(designs=(HUMAN,), override=True)
    second, _ = play(tmp_path, "H2", terms=terms)
    assert second.passed
    assert "was not tested" in second.overridden
    third, _ = play(tmp_path, "H3")
    assert third.state == "refused"
    with open_home(tmp_path) as archive:
        assert [bool(e.overridden) for e in experiments(archive)] == [True, False]


def test_a_memory_that_never_speaks_is_warned_of(tmp_path):
    path = tmp_path / "silent.py"
    path.write_text(SILENT)
    found, _ = play(tmp_path / "home", "H1", terms=Terms(designs=(str(path),), pilot=4))
    assert found.state == "not passed"
    assert any("never said anything" in warning for warning in found.warnings)


def test_too_few_tasks_are_refused_before_they_are_played(tmp_path):
    found, _ = play(tmp_path, "H1", rules=Rules(tasks=20))
    assert found.state == "refused"
    assert "20 tasks can prove nothing" in found.reason
    assert rows(tmp_path) == 0


@pytest.mark.parametrize(
    ("hypothesis", "how", "error", "words"),
    [
        ("H4", {}, UnknownName, "no hypothesis 'H4'"),
        ("H1", {"domain": "dials"}, UsageError, "no memory in it"),
        ("H1", {"domain": "nowhere"}, UnknownName, "nowhere"),
        ("H1", {"terms": Terms(designs=("nobody",))}, UnknownName, "nobody"),
        (
            "H2",
            {"domain": TIMELESS, "terms": Terms(designs=(HUMAN,), override=True)},
            UsageError,
            "no order of time",
        ),
        ("H2", {"terms": Terms(override=True)}, UsageError, "nobody is known to help"),
        ("H3", {"terms": Terms(override=True)}, UsageError, "which human memory"),
    ],
)
def test_what_cannot_be_asked_is_refused_clearly(tmp_path, hypothesis, how, error, words):
    with pytest.raises(error, match=words):
        play(tmp_path, hypothesis, **how)
    with open_home(tmp_path) as archive:
        assert experiments(archive) == []


@pytest.mark.parametrize("terms", [{"spread": 0.0}, {"effect": float("nan")}, {"pilot": 0}])
def test_nonsense_is_refused(terms):
    with pytest.raises(UsageError):
        Terms(**terms)


PROGRAM = """
import sys, metamem
from metamem.evaluation.jobs import Spec
from metamem.runs.experiments import Terms
metamem.experiment({domain!r}, "H1", home=sys.argv[1], terms=Terms(pilot=10), executor=Spec("inline"))
"""


@pytest.mark.timeout(120)
def test_killed_it_goes_on_and_comes_to_the_same(chain, tmp_path):
    _, _, (undisturbed, _), _, _ = chain
    command = [sys.executable, "-c", PROGRAM.format(domain=TOWNS), str(tmp_path)]
    process = subprocess.Popen(command, start_new_session=True)
    while not (tmp_path / "archive.db").is_file() or rows(tmp_path) < 60:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with open_home(tmp_path) as archive:
        assert [e.state for e in experiments(archive)] == ["under way"]
    assert play(tmp_path, "H2")[0].state == "refused"  # what is under way opens nothing
    assert subprocess.run(command, check=False).returncode == 0
    with open_home(tmp_path) as archive:
        ended = next(e for e in experiments(archive) if e.plan.hypothesis == "H1")
    assert (ended.id, ended.state, ended.reason) == (
        undisturbed.id,
        undisturbed.state,
        undisturbed.reason,
    )
    assert ended.result == undisturbed.result


# --- what is decided, over many cheap seeds ---------------------------------------------------


def played(luck, gain, tasks=120):
    """Rewards without and with a memory that wins so many more tasks."""
    hard = [luck.random() for _ in range(tasks)]
    none = {f"t{n}": float(luck.random() < 0.2 + 0.5 * h) for n, h in enumerate(hard)}
    ours = {f"t{n}": float(luck.random() < 0.2 + 0.5 * h + gain) for n, h in enumerate(hard)}
    return ours, none


def helps(seed, gain):
    luck = random.Random(seed)
    ours, none = played(luck, gain)
    other = played(luck, 0.0)[0]
    gate = Gate(LEVEL, PairedGain())
    return gate.decide({"ours": ours, "other": other}, {"none": none}, seed=seed).promoted


def test_no_effect_passes_no_more_often_than_its_level():
    runs = 300
    found = sum(helps(seed, 0.0) is not None for seed in range(runs))
    assert binomial_tail(found, runs, LEVEL) > 1e-4, found


def test_an_effect_of_a_quarter_is_found():
    assert sum(helps(seed, 0.25) == "ours" for seed in range(100)) >= 95


def test_the_power_of_a_gain_is_what_it_says():
    """As many tasks as are said to be needed show the effect in about four of five experiments."""
    power = power_of_gain(120, LEVEL, 0.5, "assumed", 0.15)
    assert power.needed == tasks_needed(0.15, 0.5, LEVEL, 0.8, one_sided=True)
    assert not power_of_gain(30, LEVEL, 0.5, "assumed", 0.15).enough
    found = 0
    for seed in range(300):
        luck = random.Random(seed)
        gains = {f"t{n}": luck.gauss(0.15, 0.5) for n in range(power.needed)}
        rule, none = PairedGain(), dict.fromkeys(gains, 0.0)
        rival = rule.rival({"none": none})
        found += rule.judge(gains, rival, level=LEVEL, seed=seed).lower_bound > 0
    assert 0.65 <= found / 300 <= 0.85  # the gate's handicap costs a little


def test_longer_streams_show_smaller_rises():
    short, long = (power_of_growth([length] * 4, LEVEL, 0.5, "assumed", 0.2) for length in (10, 40))
    assert long.detectable < short.detectable
    assert short.needed == long.needed  # of the same effect, with as many streams
    assert power_of_growth([long.needed // 4] * 4, LEVEL, 0.5, "assumed", 0.2).enough
    for too_few in ([1, 1], [40]):
        with pytest.raises(UsageError):
            power_of_growth(too_few, LEVEL, 0.5, "assumed", 0.2)
