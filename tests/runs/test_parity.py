"""ALMA's own settings: the numbers of its experiments come out, through ordinary fields alone."""

import inspect

import pytest

import metamem as api
from metamem.api import forecast_learning, open_home
from metamem.cli.main import run
from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.evaluation.jobs import Spec
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.runs.config import LearnConfig
from metamem.runs.parity import ALMA, preset
from metamem.runs.settings import learn_config
from tests.extras import needs

INLINE = Spec("inline")
NEEDS = {"minihack": "minihack", "textworld": "textworld"}
EPISODES = {  # collected, and deployed three times over
    ("alfworld", "train"): (15, 45),
    ("alfworld", "test"): (70, 210),
    ("alfworld", "shift"): (70, 201),
    ("baba", "train"): (13, 39),
    ("baba", "test"): (13, 42),
    ("minihack", "train"): (17, 51),
    ("minihack", "test"): (40, 120),
}


def domain_of(name):
    if name in NEEDS:
        needs(NEEDS[name])
    return registry.create("domains", name, **ALMA[name].domain)


@pytest.mark.parametrize(("name", "split"), EPISODES)
def test_as_many_episodes_as_in_the_original(name, split):
    made = plan(domain_of(name), split, Rules(**ALMA[name].rules))
    assert (len(made.collection), len(made.cases)) == EPISODES[name, split]


def test_shift_is_deployed_on_with_what_was_collected_at_home():
    domain = domain_of("alfworld")
    made = plan(domain, "shift", Rules(**ALMA["alfworld"].rules))
    assert made.collected_from == "test"
    assert {t.id for t in made.collection} <= {t.id for t in domain.tasks("test")}
    assert {t.id for t in made.deployment} <= {t.id for t in domain.tasks("shift")}


def test_shift_can_be_played_that_way(tmp_path):
    """The collection is looked up in another split than the tasks that are deployed on."""
    rules = Rules(tasks_from="alma", rollout="streaming")
    (found,) = api.evaluate(
        "success_retrieval", "toy", "shift", home=tmp_path, executor=INLINE, rules=rules
    )
    assert found.complete and not any(row.failure for row in found.rows)
    with open_home(tmp_path) as archive:
        (key,) = archive.collections()
        assert {e.task_id.split("-")[0] for e in archive.collection(key)} == {"test"}


@pytest.mark.parametrize("name", ALMA)
def test_a_preset_is_a_config_like_any_other(name):
    domain = domain_of(name)
    config = learn_config(None, name, "", ALMA[name].learning())
    assert LearnConfig.from_json(config.to_json()) == config
    assert config.domain.settings == ALMA[name].domain
    assert config.rules.max_steps == domain.max_steps  # ours are theirs
    assert (config.selector.name, config.batch, config.budget.designs) == ("alma", 5, 43)
    assert (config.racing, config.control, config.confirm_seeds) == (False, False, 0)
    assert (config.rules.repeats, config.final_repeats, config.shortlist) == (3, 3, 1)
    assert registry.create("selectors", "alma", **config.selector.settings)
    assert ALMA[name].differs


def test_no_commands_are_shown_where_the_original_shows_none():
    assert ALMA["textworld"].domain["admissible"] is False
    known = inspect.signature(registry.factory("domains", "textworld")).parameters
    assert set(ALMA["textworld"].domain) <= set(known)


def test_explicit_flags_win_and_the_rest_is_recorded(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ALFWORLD_DATA", "")
    asked = ["evaluate", "no_memory", "--domain", "alfworld", "--split", "train"]
    asked += ["--parity", "alma", "--repeats", "1", "--max-steps", "9", "--rollout", "sequential"]
    assert run([*asked, "--home", str(tmp_path), "--workers", "1", "-q"]) == 0
    with open_home(tmp_path) as archive:
        (found,) = archive.evaluations(split="train")
    protocol, limits = found.fingerprint.rules, found.fingerprint.limits
    assert len(found.rows) == 15 and max(row.steps for row in found.rows) <= 9
    told = {name: protocol[name] for name in ("rollout", "repeats", "max_steps", "tasks_from")}
    assert told == {"rollout": "streaming", "repeats": 1, "max_steps": 9, "tasks_from": "alma"}
    assert limits["retrieve_cpu"] == limits["wall"] == 300


def test_batched_is_frozen(tmp_path, capsys):
    asked = ["evaluate", "no_memory", "--domain", "toy", "--home", str(tmp_path), "--workers", "1"]
    for rollout in ("batched", "frozen"):
        assert run([*asked, "--collect", "0", "--rollout", rollout, "-q"]) == 0
    with open_home(tmp_path) as archive:
        (found,) = archive.evaluations(split="valid")  # one evaluation, found again
        assert archive.collections() == []
    assert found.fingerprint.rules["rollout"] == "frozen"


def test_a_domain_shows_what_parity_sets_and_what_differs(capsys):
    assert run(["domains", "show", "baba"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "--parity alma" in shown and "train 26" in shown and "repeats 3" in shown
    assert "51 ids" in shown


@pytest.mark.parametrize(("parity", "domain"), [("alma", "toy"), ("beta", "baba"), ("alma", "")])
def test_what_has_no_preset_is_refused(parity, domain):
    with pytest.raises(UsageError, match=r"no settings|no parity"):
        preset(parity, domain)


def test_what_is_not_raced_is_not_estimated_as_if_it_were():
    asked = {"agent": Spec("llm"), "models": {"agent": "scripted:demo"}, "designs": 10}
    raced = forecast_learning("toy", racing=True, **asked)
    assert forecast_learning("toy", racing=False, **asked).calls > raced.calls


def test_an_estimate_counts_every_round_of_collection():
    asked = {"agent": Spec("llm"), "models": {"agent": "scripted:demo"}, "designs": 10}
    one, two = (forecast_learning("toy", rounds=n, **asked) for n in (1, 2))
    assert two.calls > one.calls


@pytest.mark.slow
def test_a_whole_run_chooses_as_the_original_does(tmp_path, capsys):
    asked = ["learn", "baba", "--parity", "alma", "--designs", "2", "--run", "like-alma"]
    asked += ["--home", str(tmp_path), "-q", "--json"]
    assert run(asked) == 0
    with open_home(tmp_path) as archive:
        config = LearnConfig.from_json(archive.run("like-alma").config)
        proposals = archive.proposals("like-alma")
        learned = archive.run("like-alma").summary["learned"]
        folds = {e.fingerprint.rules["fold"] for e in archive.evaluations(split="train")}
        assert [r.id for r in archive.runs()] == ["like-alma"]  # no control
    assert config == learn_config(None, "baba", "", {**ALMA["baba"].learning(), "designs": 2})
    assert folds == {0}  # nothing was confirmed on other tasks
    own = [p for p in proposals if p.operator != "human" and p.estimate]
    assert all(p.estimate["complete"] for p in own)  # nothing was raced out
    if own:
        best = max(own, key=lambda p: p.estimate["mean"])
        tied = {p.design_id for p in own if p.estimate["mean"] == best.estimate["mean"]}
        assert learned in tied
    assert run(asked) == 0  # the same command again: the same run
