"""The command that repeats a run says what was set, and nothing else."""

from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.report.reproduce import beyond_options, command_line
from metamem.runs.config import LearnConfig
from metamem.search.budget import Budget


def test_defaults_are_left_out():
    config = LearnConfig(domain=Spec("toy"))
    assert command_line(config.to_json()) == "metamem learn toy --seed 0 --designs 150"
    assert beyond_options(config.to_json()) == {}


def test_everything_else_is_there_and_quoted():
    config = LearnConfig(
        domain=Spec("alfworld", {"data": "/my games", "train": 50}),
        agent=Spec("random"),
        selector=Spec("alma", {"alpha": 2}),
        proposer=Spec("random"),
        rules=Rules(
            rollout="streaming",
            repeats=2,
            collect=9,
            advice_tokens=100,
            tasks_from="alma",
            ask_every=3,
        ),
        budget=Budget(designs=5, seconds=60.0),
        seed=7,
        control=False,
        racing=False,
        shortlist=2,
    )
    assert command_line(config.to_json()) == (
        "metamem learn alfworld --seed 7 --designs 5 --seconds 60 --selector alma "
        "--proposer random --agent random --data '/my games' --rollout streaming --repeats 2 "
        "--collect 9 --advice-tokens 100 --ask every:3 --tasks-from alma --no-control --no-racing"
    )
    assert beyond_options(config.to_json()) == {
        "shortlist": 2,
        "selector.settings": {"alpha": 2},
        "domain.settings": {"train": 50},
    }
