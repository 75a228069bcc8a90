"""What came of advice, case by case beside no memory."""

import pytest

from metamem.core.types import CaseResult, Evaluation, Fingerprint
from metamem.evaluation.uptake import NOTHING, uptake

MARK = Fingerprint("d", "toy", "1", "train", {}, "reader", {}, "e", "t", {}, 0)


def played(*rows: tuple[str, float, str, str]) -> Evaluation:
    made = tuple(
        CaseResult(task, 0, reward, 1, advice_digest=told, actions_digest=did)
        for task, reward, told, did in rows
    )
    return Evaluation(MARK, made, len(made))


WITHOUT = played(("a", 0, "", "1"), ("b", 0, "", "1"), ("c", 1, "", "1"), ("d", 0, "", "1"))


def test_each_told_case_is_set_beside_the_same_case_without_memory():
    found = uptake(
        played(
            ("a", 1, "x", "2"),  # did otherwise, and won
            ("b", 0, "x", "2"),  # did otherwise in vain
            ("c", 0, "x", "2"),  # was led astray
            ("d", 0, "x", "1"),  # did not listen
        ),
        WITHOUT,
    )
    assert found.cases == 4
    assert found.helped == found.hurt == found.vain == found.ignored == 0.25
    assert found.taken_up == 0.75


def test_silence_and_unknown_actions_count_for_nothing():
    assert uptake(played(("a", 1, "", "2"), ("b", 1, "x", "")), WITHOUT) == NOTHING
    assert uptake(played(("z", 1, "x", "2")), WITHOUT) == NOTHING
    assert uptake(WITHOUT, WITHOUT) == NOTHING


def test_a_full_reward_is_never_in_vain():
    assert uptake(played(("c", 1, "x", "2")), WITHOUT).vain == 0


@pytest.mark.parametrize("reward", [0.0, 0.5, 1.0])
def test_notes_that_name_no_action_count_when_they_change_what_is_done(reward):
    told = uptake(played(("a", reward, "the mug is likely in the cabinet", "2")), WITHOUT)
    assert told.taken_up == 1.0
