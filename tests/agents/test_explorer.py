"""The explorer: curious without advice, obedient with it, in a small world and in a real one."""

import asyncio
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metamem.agents
from metamem.agents.explorer import Explorer
from metamem.agents.explorer_advice import read_told
from metamem.agents.random_agent import RandomAgent
from metamem.agents.text import tokens
from metamem.core.errors import UsageError
from metamem.core.protocols import Agent, Seat
from metamem.core.types import Observation, Task
from metamem.domains.baba.domain import BabaDomain
from metamem.domains.baba.engine import ACTIONS, OBJECTS, PROPERTIES
from tests.agents.test_no_domain_words import code_words

MOVES = ("forward", "back", "far left", "left", "wait")
BY_WORDS = {tokens(name): name for name in MOVES}


# --- reading advice -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "advice",
    [
        "1. forward\n2. left\n3. far left",
        "1) go forward\n2) go left\n3) go far left",
        "To get there this worked:\n1. forward\n2. left\n3. far left",
        "forward, left, then far left",
        "What was noted: forward and then left and then far left.",
        "> forward\nA hall.\n> left\n\nA door far left.\n> far left\nA garden.",
        json.dumps({"plan": ["forward", "left", "far left"]}),
        json.dumps([{"did": name, "seen": "a hall"} for name in ("forward", "left", "far left")]),
        "forward\nleft\nfar left",
        "FORWARD -> Left -> far left",
    ],
)
def test_a_way_is_read_in_any_form(advice: str) -> None:
    ways = read_told(advice, BY_WORDS).ways
    assert [[step.action for step in way.steps] for way in ways] == [
        ["forward", "left", "far left"]
    ]


def test_a_numbered_step_that_was_never_possible_yet_keeps_its_place() -> None:
    """It is no sight either: a way that tells no sights is taken at its word."""
    advice = "1. turn the old crank\n2. forward\n3. choose iron wand\n4. left"
    (way,) = read_told(advice, BY_WORDS).ways
    assert [step.action for step in way.steps] == ["", "forward", "", "left"]
    assert not way.pictured
    (met,) = read_told(advice, BY_WORDS | {tokens("choose iron wand"): "choose iron wand"}).ways
    assert [step.action for step in met.steps] == ["", "forward", "choose iron wand", "left"]


def followed(advice: str, sights: list[tuple[str, tuple[str, ...]]]) -> list[str]:
    """What the explorer does where it is shown these one after the other, whatever it does."""

    async def play() -> list[str]:
        player = Explorer().start(Seat("Get out of the cellar.", 1))
        player.advise(advice)
        return [await player.act(Observation(text, actions)) for text, actions in sights]

    return asyncio.run(play())


def test_a_way_is_followed_through_actions_that_turn_up_on_it() -> None:
    plain, asked = ("forward", "back", "wait", "use"), ("choose iron wand", "cancel")
    sights = [("A hall, back there is out.", plain), ("Which one?", asked), ("A door back.", plain)]
    assert followed("1. use\n2. choose iron wand\n3. forward", sights) == [
        "use",
        "choose iron wand",
        "forward",
    ]


def test_a_way_that_tells_a_step_again_means_it_though_nothing_changed() -> None:
    still = [("A stuck door; the way out of the cellar is back.", MOVES)] * 5
    told = "1. forward\n2. forward\n3. forward\n4. forward\n5. far left"
    assert followed(told, still) == ["forward"] * 4 + ["far left"]
    assert followed("1. forward\n2. left\n3. left", [still[0]] * 2) == ["forward", "left"]


def test_two_ways_are_kept_apart() -> None:
    told = read_told("One:\n1. left\n2. back\n\nTwo:\n1. forward\n2. left x3", BY_WORDS)
    assert [[step.action for step in way.steps] for way in told.ways] == [
        ["left", "back"],
        ["forward", "left", "left", "left"],
    ]


def test_descriptions_are_no_steps() -> None:
    told = read_told(
        "A lamp stands 2 steps left and 1 step back.\ndoor far left\nwall left", BY_WORDS
    )
    assert not told.ways
    assert not told.likings


def test_points_of_a_list_are_likings_and_warnings_turn_them_round() -> None:
    liked = read_told("Helped before:\n- left (4 of 5 won)\n- back (1 of 3 won)", BY_WORDS)
    assert liked.likings["left"] > liked.likings["back"] > 0
    for warning in ("Avoid:\n- left", "This did not lead anywhere before:\n- left"):
        assert read_told(warning, BY_WORDS).likings == {"left": -1.0}


@pytest.mark.parametrize("outcome", ["reward 0", "reward 0.0", "reward: 0", "reward -0"])
def test_a_lost_episode_is_no_way_to_go(outcome: str) -> None:
    advice = f"It ended with {outcome}.\nIt began with: A hall.\n> left\nA wall.\n> back\nA hall."
    assert not read_told(advice, BY_WORDS).ways
    assert read_told(advice.replace(outcome, "reward 1"), BY_WORDS).ways
    assert read_told(advice.replace(outcome, "reward 0.5"), BY_WORDS).ways


@given(st.text(max_size=300))
def test_any_text_can_be_advice(advice: str) -> None:
    player = Explorer().start(Seat("find the garden", 0))
    player.advise(advice)
    assert asyncio.run(player.act(Observation("A hall.", MOVES))) in MOVES


# --- in a corridor --------------------------------------------------------------------------


class Corridor:
    """Cells in a row; the garden lies at one end. `wait` and walking into a wall change nothing."""

    def __init__(self, length: int = 9, start: int = 4) -> None:
        self.length, self.start = length, start

    def reset(self) -> Observation:
        self.at = self.start
        return self._show()

    def step(self, action: str) -> Observation:
        self.at += {"forward": 1, "back": -1}.get(action, 0)
        self.at = min(max(self.at, 0), self.length)
        return self._show()

    def _show(self) -> Observation:
        won = self.at == self.length
        return Observation(f"You are at mark {self.at}.", MOVES, float(won), won)


def actions_in(world: Corridor, advice: str = "", seed: int = 0, limit: int = 40) -> list[str]:
    player = Explorer().start(Seat("find the garden", seed))
    player.advise(advice)
    seen, actions = world.reset(), []
    while len(actions) < limit and not seen.done:
        actions.append(asyncio.run(player.act(seen)))
        seen = world.step(actions[-1])
    return actions


def test_the_same_seed_plays_the_same_and_another_otherwise() -> None:
    assert actions_in(Corridor(), seed=3) == actions_in(Corridor(), seed=3)
    assert len({tuple(actions_in(Corridor(), seed=seed)) for seed in range(8)}) > 1


def test_what_changed_nothing_is_not_tried_again_where_it_failed() -> None:
    class Stuck(Corridor):
        def step(self, action: str) -> Observation:
            return self._show()

    assert len(set(actions_in(Stuck(), limit=len(MOVES)))) == len(MOVES)


def test_it_gets_further_than_chance() -> None:
    lengths = [len(actions_in(Corridor(), seed=seed)) for seed in range(20)]
    assert sum(length < 40 for length in lengths) >= 16


def test_a_way_is_gone_step_by_step() -> None:
    assert actions_in(Corridor(), "1. back\n2. forward\n3. forward")[:3] == [
        "back",
        "forward",
        "forward",
    ]


def test_one_word_repeated_as_often_as_said() -> None:
    assert actions_in(Corridor(), "forward x5") == ["forward"] * 5


def test_where_on_the_way_it_is_shows_in_what_was_seen() -> None:
    """The episode began elsewhere; from the cell that both share the rest of it is followed."""
    marks = [f"> forward\nYou are at mark {n}." for n in range(1, 10)]
    advice = "It began with: You are at mark 0.\n" + "\n".join(marks)
    assert actions_in(Corridor(start=6), advice) == ["forward"] * 3


def test_asked_again_with_the_same_words_it_keeps_its_place() -> None:
    player = Explorer().start(Seat("find the garden", 0))
    world, taken = Corridor(), []
    seen = world.reset()
    for _ in range(3):
        player.advise("1. back\n2. wait\n3. forward")
        taken.append(asyncio.run(player.act(seen)))
        seen = world.step(taken[-1])
    assert taken == ["back", "wait", "forward"]


def test_a_world_without_admissible_actions_is_refused() -> None:
    with pytest.raises(UsageError):
        asyncio.run(Explorer().start(Seat("find the garden", 0)).act(Observation("A hall.")))


def test_what_matters_is_walked_towards() -> None:
    """The observation says where the garden lies; goal and advice say that it matters."""

    class Signposted(Corridor):
        def _show(self) -> Observation:
            lines = (f"garden {self.length - self.at} paces forward", "swamp 3 paces back")
            won = self.at == self.length
            return Observation("\n".join(lines), MOVES, float(won), won)

    for seed in range(5):
        assert actions_in(Signposted(), seed=seed).count("forward") == 5


def test_settings_are_part_of_the_fingerprint() -> None:
    assert Explorer().fingerprint == Explorer().fingerprint
    assert Explorer(undo=0).fingerprint != Explorer().fingerprint


# --- in Baba Is AI --------------------------------------------------------------------------

DOMAIN = BabaDomain()
KINDS = ("goto_win", "two_room-goto_win", "two_room-break_stop-goto_win")
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
BREAD = "To bake bread:\n1. knead the dough\n2. warm the stove\n\nBread is best when fresh."


@lru_cache
def tasks() -> tuple[Task, ...]:
    return tuple(task for task in DOMAIN.tasks("train") if task.kind in KINDS)


def success(advice: Callable[[Task], str], agent: Agent | None = None) -> float:
    """Share of the tasks won; everything is seeded, so the figure never varies."""
    return sum(won(agent or Explorer(), task, advice(task)) for task in tasks()) / len(tasks())


def won(agent: Agent, task: Task, advice: str) -> float:
    async def play() -> float:
        world, player = DOMAIN.world(task, 0), agent.start(Seat(task.goal, int(task.id[-4:])))
        player.advise(advice)
        seen = world.reset()
        for _ in range(DOMAIN.max_steps):
            seen = world.step(await player.act(seen))
            if seen.done:
                break
        return seen.reward

    return asyncio.run(play())


def turned_round(task: Task) -> str:
    """The opposite of every right action, again and again to the end of the episode."""
    right = [line.split()[1] for line in DOMAIN.oracle(task).splitlines()]
    wrong = [OPPOSITE[right[n % len(right)]] for n in range(DOMAIN.max_steps)]
    return "\n".join(f"{n}. {action}" for n, action in enumerate(wrong, 1))


@lru_cache
def untold() -> float:
    return success(lambda task: "")


def test_without_advice_it_is_weak() -> None:
    assert 0.1 < untold() < 0.5
    assert untold() > 0.8 * success(lambda task: "", RandomAgent())


def test_right_advice_helps() -> None:
    assert success(DOMAIN.oracle) >= 0.97


def test_a_right_note_helps() -> None:
    """Which object is WIN stands in the observation too, but only advice says that it matters."""

    def note(task: Task) -> str:
        seen = DOMAIN.world(task, 0).reset().text
        return next(line for line in seen.splitlines() if line.endswith(" is win"))

    assert success(note) > 1.5 * untold()


def test_wrong_advice_hurts() -> None:
    assert success(turned_round) < 0.75 * untold()


def test_irrelevant_advice_does_little() -> None:
    assert abs(success(lambda task: BREAD) - untold()) < 0.06


def test_it_knows_no_word_of_the_domain() -> None:
    folder = Path(metamem.agents.__file__).parent
    known = {word for path in folder.glob("explorer*.py") for word in code_words(path.read_text())}
    assert known.isdisjoint({*OBJECTS, *PROPERTIES, *ACTIONS, "push"})
