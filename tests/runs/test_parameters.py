"""Sets of parameters are learned by the same run as memories: search, gate, ledger, explanation."""

import json

import pytest

import metamem
from metamem.api import open_home
from metamem.core.errors import UnknownName, UsageError
from metamem.core.space import Int, Space
from metamem.core.types import Scored, Task
from metamem.domains.base import ParamsBase
from metamem.domains.dials import DialsDomain
from metamem.evaluation.jobs import Spec
from metamem.promotion import Bounds, Ledger
from metamem.promotion.parameters import in_use, propose_bounds
from metamem.store import Place

INLINE = Spec("inline")
HERE = Place("domain", "dials")


def learned(home, seed=0, **settings):
    return metamem.learn("dials", home=home, executor=INLINE, seed=seed, designs=24, **settings)


def journal(home, run):
    with open_home(home) as archive:
        return [
            (p.design_id, p.parents, p.operator, p.note, p.status, p.estimate)
            for name in (run, f"{run}/control")
            for p in archive.proposals(name)
        ]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    home = tmp_path_factory.mktemp("dials")
    return home, learned(home)


def test_better_settings_are_found_and_promoted(finished):
    _, result = finished
    assert result.promoted and result.learned.kind == "params"
    domain = DialsDomain()
    values = domain.space.read(result.learned)
    assert abs(values["frequency"] - domain._station) < 3  # where it was planted


@pytest.mark.slow
def test_a_run_is_a_function_of_its_seed(finished, tmp_path):
    home, result = finished
    again = learned(tmp_path)
    assert journal(home, result.run_id) == journal(tmp_path, again.run_id)
    other = learned(tmp_path, seed=1)
    assert journal(tmp_path, other.run_id) != journal(tmp_path, again.run_id)


def test_nothing_is_promoted_where_the_dials_do_nothing(tmp_path):
    result = learned(tmp_path, domain_settings={"effect": 0.0})
    assert not result.promoted
    with open_home(tmp_path) as archive:
        (entry,) = archive.promotions()
    assert (entry.decision, entry.subject.kind) == ("refused", "parameters")


def test_a_proven_set_waits_for_a_person(finished):
    home, result = finished
    with open_home(home) as archive:
        ledger = Ledger(archive)
        (waiting,) = ledger.pending()
        assert waiting.subject.id == result.learned.id and in_use(ledger, HERE) is None
        ledger.approve(waiting.subject, HERE, by="Ada")
        assert in_use(ledger, HERE) == json.loads(result.learned.source)


@pytest.mark.parametrize(("most", "applies"), [(20, True), (3, False)])
def test_inside_approved_bounds_a_proven_set_is_in_use_at_once(tmp_path, most, applies):
    bounds, place = Bounds({"level": (0, most)}), Place("domain", "plain")
    with open_home(tmp_path) as archive:
        propose_bounds(Ledger(archive), bounds, place, by="operations")
        Ledger(archive).approve(bounds.subject, place, by="Ada")
    run = metamem.learn(
        f"{__name__}:Plain", home=tmp_path, executor=INLINE, designs=12, control=False
    )
    assert run.promoted
    with open_home(tmp_path) as archive:
        found = in_use(Ledger(archive), place)
    assert found == (json.loads(run.learned.source) if applies else None)


def test_what_was_learned_under_other_settings_waits_inside_bounds_too(tmp_path):
    bounds, place = Bounds({"level": (0, 20)}), Place("domain", "plain")
    with open_home(tmp_path) as archive:
        propose_bounds(Ledger(archive), bounds, place, by="operations")
        Ledger(archive).approve(bounds.subject, place, by="Ada")
    settings = {"domain_settings": {"most": 40}, "designs": 12, "control": False}
    run = metamem.learn(f"{__name__}:Plain", home=tmp_path, executor=INLINE, **settings)
    assert run.promoted
    with open_home(tmp_path) as archive:
        (waiting,) = Ledger(archive).pending()
        assert in_use(Ledger(archive), place) is None
    assert waiting.evidence["learned_under"]["usual"] == {"most": 20}


def test_a_copy_is_told_in_the_words_of_parameters(tmp_path):
    copying = Spec("tests.runs.plugged:Copying")
    found = metamem.learn(
        "dials", home=tmp_path, executor=INLINE, proposer=copying, designs=2, control=False
    )
    with open_home(tmp_path) as archive:
        told = [p.reason for p in archive.proposals(found.run_id) if p.status == "duplicate"]
    assert len(told) == 4  # two that cost nothing, and two that are the budget
    assert all(reason.startswith("the same values as") for reason in told)


def test_what_each_value_is_worth_is_told(finished):
    home, result = finished
    with open_home(home) as archive:
        told = archive.run(result.run_id).summary["explanation"]
    first = told["parts"][0]
    assert first["what"].startswith("frequency") and first["low"] > 0


def test_costs_are_kept_with_every_row(finished):
    home, result = finished
    (evaluation,) = metamem.evaluate(result.learned.id, "dials", "test", home=home, executor=INLINE)
    assert all(set(row.costs) == {"watts"} and row.costs["watts"] > 0 for row in evaluation.rows)
    assert {row.steps for row in evaluation.rows} == {0}


def test_sets_by_name_file_or_id(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"frequency": 95, "gain": 2, "stages": 3, "filter": "off", "stereo": false}')
    found = metamem.evaluate(
        ["defaults", "careful", str(path)], "dials", "valid", home=tmp_path, executor=INLINE
    )
    assert len({evaluation.design for evaluation in found}) == 3
    path.write_text('{"frequency": 95}')
    with pytest.raises(UsageError, match="'gain' is missing"):
        metamem.evaluate(str(path), "dials", home=tmp_path, executor=INLINE)
    with pytest.raises(UnknownName, match="defaults, loud, careful"):
        metamem.evaluate("no_memory", "dials", home=tmp_path, executor=INLINE)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"agent": Spec("reader")}, "nobody acts in dials"),
        ({"proposer": Spec("recombine")}, "makes memory designs"),
        ({"proposer": Spec("handoff")}, "makes memory designs"),
    ],
)
def test_who_cannot_work_on_parameters_is_refused(tmp_path, settings, why):
    with pytest.raises(UsageError, match=why):
        learned(tmp_path, **settings)


def test_proposers_of_parameters_are_refused_where_memories_are_learned(tmp_path):
    with pytest.raises(UsageError, match="makes sets of parameters"):
        metamem.learn("toy", home=tmp_path, executor=INLINE, proposer=Spec("gaussian"))


class Plain(ParamsBase):
    """One number that matters, in a domain of the smallest kind."""

    name = "plain"
    version = "1"
    space = Space({"level": Int(0, 20, 0)})

    def __init__(self, most=20):
        self.most = most

    def tasks(self, split):
        return [Task(f"{split}-{n}", "a level") for n in range(40)]

    async def score(self, values, task, trial):
        return Scored(values["level"] / self.most)
