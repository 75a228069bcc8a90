"""Plans that name actions word for word are carried out, whatever the words and however long.

The workshop has hundreds of long actions, a goal whose words stand in many of them, and a solution
that repeats itself, waits, and turns on and off: all that words alone would lead astray.
"""

import json
from collections.abc import Callable

import pytest

from metamem.agents.reader import Reader
from metamem.core.protocols import Agent, Seat
from metamem.core.types import Observation

GOAL = "Your task is to melt the wax. First, focus on the wax. Then, use the burner to change it."
ROOMS = ("hall", "cellar", "porch")
THINGS = ("wax", "iron pan", "burner", "clay jug", "burner lid", "old wax", "wax seal")
PLAN = (
    "go to cellar",
    "pick up iron pan",
    "move wax to iron pan",
    "move iron pan to burner",
    "focus on wax in iron pan",
    *("turn on burner", "wait", "wait", "turn off burner") * 2,
    "turn on burner",
    *["wait"] * 12,
    "turn off burner",
    "examine wax in iron pan",
)


class Workshop:
    """Won by the steps of the plan, in order; whatever else is done changes little."""

    def __init__(self, plan: tuple[str, ...] = PLAN) -> None:
        self.plan = plan

    def reset(self) -> Observation:
        self.done: list[str] = []
        return self._show("This is the hall. In it you see a wax seal and a door.")

    def step(self, action: str) -> Observation:
        if self.plan[len(self.done)] == action:
            self.done.append(action)
        elif action.startswith("focus"):
            return Observation("That was the wrong thing.", (), 0.0, True)  # as such worlds do
        return self._show(f"You {action}.")

    def _show(self, text: str) -> Observation:
        won = len(self.done) == len(self.plan)
        return Observation(text, () if won else self._actions(), float(won), won)

    def _actions(self) -> tuple[str, ...]:
        burning = self.done.count("turn on burner") > self.done.count("turn off burner")
        names = {f"go to {room}" for room in ROOMS} | {"look around", "wait", *self.plan[:3]}
        names |= {f"{verb} {thing}" for verb in ("focus on", "pick up", "open") for thing in THINGS}
        names |= {f"move {one} to {other}" for one in THINGS for other in THINGS if one != other}
        names |= {f"use {one} on {other}" for one in THINGS for other in THINGS}
        names |= {f"pour {one} into {other} in {room}" for one in THINGS for other in THINGS
                  for room in ROOMS}  # fmt: skip
        if "move wax to iron pan" in self.done:
            names |= {"focus on wax in iron pan", "examine wax in iron pan"}
        names.add("turn off burner" if burning else "turn on burner")
        return tuple(sorted(names))


async def play(
    advice: str, seed: int = 0, world: Workshop | None = None, agent: Agent | None = None
) -> list[str]:
    """The actions taken; the last is `won` where the goal was reached."""
    world = world or Workshop()
    player = (agent or Reader()).start(Seat(GOAL, seed))
    seen, actions = world.reset(), []
    while len(actions) < 40 and not seen.done:
        player.advise(advice)
        actions.append(await player.act(seen))
        seen = world.step(actions[-1])
    return [*actions, "won"] if seen.reward else actions


def numbered(steps: tuple[str, ...]) -> str:
    return "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))


FORMS: dict[str, Callable[[tuple[str, ...]], str]] = {
    "numbered": numbered,
    "bullets": lambda steps: "\n".join(f"- {step}" for step in steps),
    "lines": "\n".join,
    "quoted, with a stop": lambda steps: "\n".join(f'* "{step}".' for step in steps),
    "another case, wide spaces": lambda s: "\n".join(
        f"  {x.upper()} ".replace(" ", "  ") for x in s
    ),
    "empty lines between": lambda steps: numbered(steps).replace("\n", "\n\n"),
    "said to be steps": lambda s: "\n".join(f"Step {n}: {step}" for n, step in enumerate(s, 1)),
    "below the goal": lambda steps: f"{GOAL}\n{numbered(steps)}",
    "below the goal and a gap": lambda steps: f"{GOAL}\n\n{numbered(steps)}",
    "json": lambda steps: json.dumps({"plan": list(steps)}),
}


def test_there_are_hundreds_of_actions() -> None:
    assert len(Workshop().reset().actions) > 200


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_plan_is_carried_out_to_the_letter(
    form: Callable[[tuple[str, ...]], str],
) -> None:
    for seed in range(5):
        assert await play(form(PLAN), seed) == [*PLAN, "won"]


async def test_without_a_plan_it_does_not_get_there() -> None:
    assert not [seed for seed in range(5) if (await play("", seed))[-1] == "won"]


async def test_lines_that_cannot_be_done_are_passed_over() -> None:
    told = ("open door to cellar", PLAN[0], "examine the smoke", *PLAN[1:8], "stir", *PLAN[8:])
    for seed in range(5):
        assert await play(numbered(told), seed) == [*PLAN, "won"]


async def test_a_step_of_signs_or_of_small_words_alone_is_a_step() -> None:
    plan = ("up", "up", "down", "go to (3, 4)", "up", "then out, at last")

    class Grid(Workshop):
        def _actions(self) -> tuple[str, ...]:
            return tuple(sorted({*plan, "left", "go to (4, 3)"}))

    for seed in range(5):
        assert await play(numbered(plan), seed, Grid(plan)) == [*plan, "won"]


@pytest.mark.parametrize("above", ["Avoid these:", "These failed:\n", "It ended with reward 0."])
async def test_what_is_said_to_have_failed_is_no_plan(above: str) -> None:
    steps = ("go to porch", "look around", "go to porch", "look around", "go to porch")
    assert (await play(numbered(steps)))[:5] == list(steps)
    assert (await play(f"{above}\n{numbered(steps)}"))[:5] != list(steps)


async def test_a_wrong_plan_is_followed_too_and_hurts() -> None:
    wrong = numbered(("go to cellar", "pick up burner lid", "focus on burner lid"))
    for seed in range(5):
        assert await play(wrong, seed) == [
            "go to cellar",
            "pick up burner lid",
            "focus on burner lid",
        ]


async def test_a_plan_for_elsewhere_is_given_up_and_no_other_tried() -> None:
    """Its second step is about the goal and cannot be done: what was told was done elsewhere."""
    one = numbered(("go to porch", "melt wax on the terrace", "look around", "go to hall"))
    other = numbered(("go to hall", "look around", "look around", "look around"))
    taken = await play(f"One way:\n{one}\n\nAnother with wax:\n{other}")
    assert taken[0] == "go to porch"
    assert taken[1:4] != ["go to hall", "look around", "look around"]


async def test_steps_about_something_else_are_followed_only_to_the_letter_and_alone() -> None:
    aside = ("go to porch", "look around", "go to hall")
    assert (await play(numbered(aside)))[:3] == list(aside)
    with_a_gap = numbered((aside[0], "climb the roof", *aside[1:]))
    assert (await play(with_a_gap))[:3] != list(aside)
    assert (await play(f"{numbered(aside)}\n\n{numbered(aside[::-1])}"))[:3] != list(aside)
