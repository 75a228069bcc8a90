"""The reader where every word is new: what advice does, step by step."""

import json

import pytest

from metamem.agents.reader import Reader
from metamem.core import registry
from metamem.core.errors import MetamemError, UsageError
from metamem.core.protocols import Seat
from metamem.core.types import Observation
from tests.agents.tiny import TinyWorld, play

SEEDS = range(40)
PLAN = ["walk to hill 5", "lift flag from hill 5", "walk to camp", "lower flag on camp"]


async def rate(advice: str = "", **settings: float) -> float:
    episodes = [await play(Reader(**settings), TinyWorld(), seed, advice) for seed in SEEDS]
    return sum(episode[-1] == "won" for episode in episodes) / len(episodes)


@pytest.mark.parametrize(
    "advice",
    [
        "\n".join(PLAN),
        "\n".join(f"{n}. {step}" for n, step in enumerate(PLAN, 1)),
        "Plan:\n" + "\n".join(f"  - {step}" for step in PLAN),
        json.dumps({"steps": PLAN}),
        json.dumps([{"action": step} for step in PLAN], indent=1),
        "First walk to hill 5, then lift the flag from hill 5; walk to the camp. "
        "Then lower the flag on the camp.",
        "walk to hill 5 -> You reach hill 5.\nlift flag from hill 5 -> You lift it.\n"
        "walk to camp -> You reach camp.\nlower flag on camp -> Well done.",
    ],
    ids=["lines", "numbered", "bullets", "json list", "json records", "prose", "transcript"],
)
async def test_a_plan_is_followed_in_any_form(advice: str) -> None:
    for seed in SEEDS:
        assert await play(Reader(), TinyWorld(), seed, advice) == [*PLAN, "won"]


async def test_a_note_about_the_thing_that_is_looked_for_helps_and_a_wrong_one_does_not() -> None:
    untold = await rate()
    assert 0.3 < untold < 0.8
    assert await rate("flag: hill") > untold
    assert await rate("The flag lies on a hill.") > untold
    assert await rate("flag: camp, tower") <= untold


async def test_steps_in_kinds_are_tried_on_one_thing_of_the_kind_after_the_other() -> None:
    in_kinds = "walk to hill\nlift flag from hill\nwalk to camp\nlower flag on camp"
    assert await rate(in_kinds) > await rate() + 0.2


async def test_steps_that_touch_no_word_of_the_goal_are_discounted() -> None:
    about_another = "lift sled from hill 2\nwalk to hill 2\nsing"
    trusting, wary = [], []
    for seed in SEEDS:
        trusting += await play(Reader(distrust=1), TinyWorld(), seed, about_another, 1)
        wary += await play(Reader(), TinyWorld(), seed, about_another, 1)
    assert trusting.count("walk to hill 2") == len(SEEDS)
    assert wary.count("walk to hill 2") < len(SEEDS)


async def test_advice_does_not_override_the_undo_penalty() -> None:
    """Told to put the flag down where it was lifted, it carries it on."""
    trap = "walk to hill 5\nlift flag from hill 5\nlower flag on hill 5"
    for seed in SEEDS:
        assert "lower flag on hill 5" not in await play(Reader(), TinyWorld(), seed, trap)
        assert "lower flag on hill 5" in await play(Reader(undo=0), TinyWorld(), seed, trap)


async def test_an_opposite_is_learned_from_states_without_any_hint_in_the_words() -> None:
    """Two verbs that mean nothing: the second leads back, so it is not done to a second lever."""

    def show(up: frozenset[int]) -> Observation:
        levers = [f"{'znork' if n in up else 'blarp'} lever {n}" for n in range(1, 7)]
        return Observation("Levers.", tuple(levers))

    async def undone(agent: Reader) -> int:
        count = 0
        for seed in SEEDS:
            player = agent.start(Seat("find out what it does", seed))
            up: frozenset[int] = frozenset()
            for _ in range(7):
                verb, _, number = (await player.act(show(up))).split()
                count += verb == "znork"
                up = up ^ {int(number)}
        return count

    assert await undone(Reader()) <= len(SEEDS)  # at most once each: that is how it is learned
    assert await undone(Reader(undo=0)) > 2 * len(SEEDS)


async def test_seeds_differ_and_repeat() -> None:
    first = [tuple(await play(Reader(), TinyWorld(), seed)) for seed in SEEDS]
    again = [tuple(await play(Reader(), TinyWorld(), seed)) for seed in SEEDS]
    assert first == again
    assert len(set(first)) > len(SEEDS) // 2


async def test_new_advice_is_followed_and_the_same_again_keeps_its_place() -> None:
    player, world = Reader().start(Seat(TinyWorld().goal, 0)), TinyWorld()
    seen, actions = world.reset(), []
    plan = "\n".join(PLAN)
    for advice in (plan.replace("5", "4"), plan, plan, plan, plan):
        player.advise(advice)
        actions.append(await player.act(seen))
        seen = world.step(actions[-1])
    assert actions == ["walk to hill 4", *PLAN]


async def test_no_admissible_actions_is_a_clear_error() -> None:
    with pytest.raises(UsageError, match="admissible"):
        await Reader().start(Seat("anything", 0)).act(Observation("A void."))


async def test_odd_words_do_not_break_it() -> None:
    for goal, action in [("", "go"), ("…", "!!!"), ("a (b|c [", "x y 3 z"), ("ünï", "ß 1 in 2")]:
        player = Reader().start(Seat(goal, 0))
        player.advise(f"{goal}: {action}\n{{]")
        for _ in range(3):
            assert await player.act(Observation(action, (action,))) == action


def test_the_fingerprint_names_the_settings() -> None:
    assert Reader().fingerprint == Reader(undo=12.0).fingerprint != Reader(undo=0).fingerprint
    assert registry.create("agents", "reader", taste=2.0).fingerprint == Reader(taste=2).fingerprint
    with pytest.raises(MetamemError, match="wrong settings"):
        registry.create("agents", "reader", luck=1.0)
