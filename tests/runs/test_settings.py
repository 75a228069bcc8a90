"""What somebody gives by name to the Python API: understood, or refused in words that help."""

import pytest

import metamem
from metamem.core.errors import UnknownName, UsageError
from metamem.evaluation.jobs import Spec
from metamem.runs.settings import learn_config


@pytest.mark.parametrize(
    ("settings", "said", "hint"),
    [
        ({"tasks": -1}, "there is no setting 'tasks'", "rules=Rules(tasks=...)"),
        ({"repeats": 2}, "there is no setting 'repeats'", "rules=Rules(repeats=...)"),
        ({"nope": 1}, "there is no setting 'nope'", "known: agent, "),
        ({"seed": "a"}, "seed must be a whole number, not 'a'", ""),
        ({"agent": "raeder"}, "no agent called 'raeder'", "did you mean 'reader'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_played(tmp_path, settings, said, hint):
    with pytest.raises((UsageError, UnknownName), match=said) as caught:
        metamem.evaluate("no_memory", "toy", home=tmp_path, executor=Spec("inline"), **settings)
    assert hint in caught.value.hint


def test_what_has_a_name_can_be_given_by_it():
    by_name = learn_config(None, "toy", "", {"agent": "random", "proposer": "random", "seed": 3})
    spelled = {"agent": Spec("random"), "proposer": Spec("random"), "seed": 3}
    assert by_name == learn_config(None, "toy", "", spelled)
    with pytest.raises(UsageError, match="seed must be a whole number"):
        learn_config(None, "toy", "", {"seed": "3"})
