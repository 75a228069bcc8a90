"""Agents that are told something new on the way: they keep their place, and they listen."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.agents.explorer import Explorer
from metamem.agents.llm import LlmAgent
from metamem.agents.places import Place, same_places
from metamem.agents.reader import Reader
from metamem.agents.relay import Relay
from metamem.agents.repair import Repair
from metamem.core.protocols import Agent, Seat
from metamem.core.types import Observation
from metamem.domains.coding.domain import CodingDomain
from tests.agents.test_llm import Says
from tests.agents.test_reader_plans import GOAL, PLAN, Workshop
from tests.agents.test_repair import TASK
from tests.agents.tiny import TinyWorld

Telling = Callable[[int], str | None]  # number of actions done → what is told then


async def played(agent: Agent, world, goal: str, telling: Telling, limit: int = 40) -> list[str]:
    """The actions; the last is `won` where the goal was reached."""
    player = agent.start(Seat(goal, 1))
    seen, actions = world.reset(), []
    while len(actions) < limit and not seen.done:
        if (advice := telling(len(actions))) is not None:
            player.advise(advice)
        actions.append(await player.act(seen))
        seen = world.step(actions[-1])
    return [*actions, "won"] if seen.done and seen.reward else actions


def numbered(steps) -> str:
    return "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))


def once(advice: str) -> Telling:
    return lambda done: None if done else advice


class Lock:
    """Opens by the right moves in order; a wrong one shuts it again."""

    goal = "open the lock"
    code = ("left", "left", "far right", "left", "right", "far right")

    def reset(self) -> Observation:
        self.right = 0
        return self._show()

    def step(self, action: str) -> Observation:
        self.right = self.right + 1 if self.code[self.right] == action else 0
        return self._show()

    def _show(self) -> Observation:
        won = self.right == len(self.code)
        moves = ("left", "right", "far left", "far right")
        return Observation(f"{self.right} pins are up.", moves, float(won), won)


PLANS = [
    pytest.param(Reader(), Workshop, GOAL, PLAN, id="reader"),
    pytest.param(Explorer(), Lock, Lock.goal, Lock.code, id="explorer"),
]


@pytest.mark.parametrize(("agent", "world", "goal", "plan"), PLANS)
async def test_the_same_advice_again_and_again_is_as_good_as_once(agent, world, goal, plan):
    advice = numbered(plan)
    told = await played(agent, world(), goal, once(advice))
    assert told == [*plan, "won"]
    assert await played(agent, world(), goal, lambda done: advice) == told


@pytest.mark.parametrize(("agent", "world", "goal", "plan"), PLANS)
async def test_a_plan_in_other_words_around_it_goes_on(agent, world, goal, plan):
    told = await played(
        agent, world(), goal, lambda done: f"{numbered(plan)}\n\nThe moon is {done} days old."
    )
    assert told == [*plan, "won"]


@pytest.mark.parametrize(("agent", "world", "goal", "plan"), PLANS)
async def test_a_plan_from_which_what_was_done_is_left_out_goes_on(agent, world, goal, plan):
    told = await played(agent, world(), goal, lambda done: numbered(plan[done:]))
    assert told == [*plan, "won"]


@pytest.mark.parametrize(("agent", "world", "goal", "plan"), PLANS)
async def test_better_advice_on_the_way_helps(agent, world, goal, plan):
    wrong = numbered(plan[::-1])
    assert (await played(agent, world(), goal, once(wrong), 30))[-1] != "won"
    # From where it was led astray, the right way begins at its beginning.
    world_then = world()
    done = await played(
        agent, world_then, goal, lambda n: wrong if n < 2 else numbered(plan[_far(world_then) :])
    )
    assert done[-1] == "won"


def _far(world: Workshop | Lock) -> int:
    return len(world.done) if isinstance(world, Workshop) else world.right


async def test_the_reader_follows_what_contradicts_what_it_was_told():
    def way(hill: str) -> str:
        steps = [f"walk to {hill}", f"lift flag from {hill}", "walk to camp", "lower flag on camp"]
        return f"To bring the flag to the camp:\n{numbered(steps)}"

    world = TinyWorld("flag", "hill 7")
    told = await played(
        Reader(), world, world.goal, lambda n: way("hill 3") if n < 1 else way("hill 7"), 12
    )
    assert told[:3] == ["walk to hill 3", "walk to hill 7", "lift flag from hill 7"]
    assert told[-1] == "won"


async def test_the_reader_tries_a_new_plan_after_one_that_went_astray():
    astray = numbered(["walk to hill 3", "lift flag from hill 3", "walk to camp"])
    better = numbered(["walk to hill 7", "lift flag from hill 7", "walk to camp"])
    world = TinyWorld("flag", "hill 7")
    told = await played(
        Reader(), world, world.goal, lambda n: astray if n < 2 else f"{astray}\n\n{better}", 14
    )
    assert told[2:5] == ["walk to hill 7", "lift flag from hill 7", "walk to camp"]


async def test_the_explorer_follows_a_way_from_here_though_it_begins_as_one_that_was_gone():
    """Where moves are few, a like beginning is no sign that the way was begun."""
    player = Explorer().start(Seat("open the lock", 0))
    moves = ("left", "right", "far left", "far right")
    player.advise("1. left\n2. far right\n3. far left")
    assert await player.act(Observation("one", moves)) == "left"
    assert await player.act(Observation("two", moves)) == "far right"
    player.advise("1. left\n2. far right\n3. right\n4. right")
    assert await player.act(Observation("three", moves)) == "left"
    assert await player.act(Observation("four", moves)) == "far right"


@pytest.mark.slow
async def test_the_repairer_ranks_anew_and_tries_nothing_twice(tmp_path):
    domain = CodingDomain(cache=str(tmp_path))
    right = json.dumps({"find": "range(a, b)", "replace": "range(a, b + 1)"})
    lines = json.dumps(
        {"path": "shelf/labels.py", "find": "name.strip()", "replace": "name.lower()"}
    )

    async def mended(telling: Telling) -> list[str]:
        world = domain.world(TASK, 0)
        try:
            return await played(Repair(), world, TASK.goal, telling, 30)
        finally:
            world.close()

    alone = await mended(once(lines))
    assert await mended(lambda done: lines) == alone
    edits = [action for action in alone if '"edit_file"' in action]
    assert len(edits) > 2  # by itself it needs several tries
    helped = await mended(lambda done: lines if done < 6 else right)
    assert len(helped) < len(alone) and helped[-1] == "won"
    # Another advice at every step: all is ranked anew, and nothing is tried again.
    other = await mended(lambda done: f"{lines} and {done} hens")
    tried = [action for action in other if '"edit_file"' in action]
    assert len(set(tried)) == len(tried) > 2


async def test_the_model_sees_the_latest_notes_and_all_that_happened():
    model = Says(lambda question: "look")
    player = LlmAgent().start(Seat("find the mug", 0, chat=model))
    seen = Observation("A desk.", ("look", "go"))
    player.advise("The mug is on the shelf.")
    await player.act(seen)
    player.advise("The mug is in the sink.")
    await player.act(Observation("A sink.", ("look", "go")))
    last = model.asked[-1].turns
    assert "in the sink" in last[-1].text and "on the shelf" not in str(last)
    assert [turn.text for turn in last[1:3]] == ["A desk.", "look"]


async def test_the_relay_hands_over_what_it_was_told_last():
    player = Relay().start(Seat("", 0))
    player.advise("first")
    player.advise("second")
    assert await player.act(Observation("")) == "second"


plans = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)


@given(st.lists(st.tuples(plans, st.integers(0, 6)), max_size=4), st.lists(plans, max_size=4))
def test_a_place_is_always_inside_its_plan_and_no_plan_is_continued_twice(before, now):
    before = [(steps, min(position, len(steps))) for steps, position in before]
    for beginnings in (True, False):
        places = same_places(before, now, beginnings=beginnings)
        assert len(places) == len(now)
        used = [place.before for place in places if place is not None]
        assert len(set(used)) == len(used)
        for steps, place in zip(now, places, strict=True):
            assert place is None or 0 <= place.position <= len(steps)


@given(st.lists(plans, max_size=4), st.data())
def test_what_is_told_again_keeps_every_place(told, data):
    before = [(steps, data.draw(st.integers(0, len(steps)))) for steps in told]
    places = same_places(before, told, beginnings=True)
    assert all(place is not None for place in places)
    assert [place.position for place in places if place] == [
        before[place.before][1] for place in places if place
    ]


def test_a_plan_told_from_the_start_by_one_who_did_not_look_is_gone_on_with():
    old = (["go in", "take it", "go out"], 2)
    assert same_places([old], [["go in", "take it", "put it down"]], beginnings=True) == [
        Place(0, 2)
    ]
    assert same_places([old], [["go in", "put it down"]], beginnings=True) == [None]
