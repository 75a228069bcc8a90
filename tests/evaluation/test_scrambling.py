"""What memory is given of what was lived: all of it, nothing, or the same texts in a disorder."""

from collections import Counter

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

import metamem
from metamem.core.errors import UsageError
from metamem.core.types import Design, Experience, Message, Step
from metamem.domains.toy import ToyDomain
from metamem.evaluation.jobs import Spec
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.evaluation.scrambling import given, scrambled
from tests.evaluation.test_groups import PATH, RECALL, Secrets

INLINE = Spec("inline")
TEXTS = st.text("abc ", max_size=6)
STEPS = st.builds(
    Step,
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=2).map(tuple),
    st.sampled_from([0.0, 1.0]),
    st.booleans(),
)
LIVED = st.lists(
    st.builds(
        Experience,
        TEXTS,
        TEXTS,
        st.just(()),
        st.lists(STEPS, max_size=4).map(tuple),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.lists(st.builds(Message, TEXTS, TEXTS), max_size=3).map(tuple),
    ),
    max_size=5,
)
# What it saw when it opened a door, and nothing of what it did itself.
SEEN = Design('''
import re
from metamem.designs import Memory


class Seen(Memory):
    """The door that was opened before a thing was seen."""

    def __init__(self, tools):
        super().__init__(tools)
        self.doors = {}

    async def update(self, experience):
        for step in experience.steps:
            found = re.match(r"Behind the \\w+ door: (\\w+)", step.observation)
            if found and step.action.startswith("open"):
                self.doors.setdefault(found[1], []).append(step.action)

    async def retrieve(self, query):
        thing = query.goal.split()[-1]
        doors = self.doors.get(thing, [])
        return f"1. {max(set(doors), key=doors.count)}\\n2. take the {thing}" if doors else ""
''')


@drawn(LIVED)
def test_all_that_came_back_is_there_in_other_places_and_what_was_done_stays(lived):
    mixed = scrambled(lived)
    assert mixed == scrambled(lived)
    for before, after in zip(lived, mixed, strict=True):
        assert (after.goal, after.observation) == (before.goal, before.observation)
        assert [s.action for s in after.steps] == [s.action for s in before.steps]
        assert [m.speaker for m in after.messages] == [m.speaker for m in before.messages]
    for part in ("observation", "actions", "reward", "done"):
        assert _counted(lived, "steps", part) == _counted(mixed, "steps", part)
    assert _counted(lived, "messages", "text") == _counted(mixed, "messages", "text")
    assert Counter(e.reward for e in lived) == Counter(e.reward for e in mixed)
    assert given(lived, "none") == []
    assert given(lived, "whole") == lived


def _counted(lived, many, part):
    return Counter(getattr(one, part) for e in lived for one in getattr(e, many))


def test_what_lives_by_what_followed_from_what_loses_by_a_disorder(tmp_path):
    reached = {
        how: metamem.evaluate(
            SEEN, "toy", home=tmp_path, executor=INLINE, rules=Rules(experience=how)
        )[0]
        for how in ("whole", "none", "scrambled")
    }
    nothing = metamem.evaluate("no_memory", "toy", home=tmp_path, executor=INLINE)[0]
    assert reached["whole"].reward > nothing.reward + 0.4
    assert reached["none"].by_task() == nothing.by_task()
    assert reached["scrambled"].reward < reached["whole"].reward - 0.4
    assert len({found.id for found in reached.values()}) == 3


def test_in_a_stream_nothing_is_learned_on_the_way_either(tmp_path):
    rules = Rules(rollout="streaming", experience="none")
    streamed = metamem.evaluate(SEEN, "toy", home=tmp_path, executor=INLINE, rules=rules)[0]
    assert not any(row.advice_tokens for row in streamed.rows)


def test_a_groups_memory_is_given_nothing_or_what_others_lived_through(tmp_path):
    for how, reward in (("whole", 1.0), ("none", 0.0), ("scrambled", 0.0)):
        rules = Rules(experience=how)
        agent = Spec(Secrets.agent)
        (found,) = metamem.evaluate(
            RECALL, PATH, home=tmp_path, executor=INLINE, rules=rules, agent=agent
        )
        assert found.reward == reward
        words = {"whole": True, "none": False, "scrambled": True}[how]
        assert all((row.advice_tokens > 2) == words for row in found.rows)


def test_the_usual_experience_is_no_part_of_a_fingerprint():
    assert "experience" not in Rules().to_json()
    stored = Rules(experience="none").to_json()
    assert stored["experience"] == "none"
    assert Rules.from_json(stored) == Rules(experience="none")
    assert Rules.from_json(Rules().to_json()) == Rules()


def test_where_nothing_is_given_nothing_is_collected():
    assert plan(ToyDomain(), "valid", Rules(experience="none")).collection == ()


def test_parameters_and_unknown_words_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no experience called"):
        Rules(experience="half")
    with pytest.raises(UsageError, match="--experience"):
        metamem.evaluate("defaults", "dials", home=tmp_path, executor=INLINE,
                         rules=Rules(experience="none"))  # fmt: skip
