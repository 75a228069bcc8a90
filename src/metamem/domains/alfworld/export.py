"""Writing own games in the official five-key format.

The official engine wants the texts of the PDDL domain and of the grammar in every file. They are
not ours, so they come from a template: a mapping with those two texts, such as any official game.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from metamem.domains.alfworld.game import CHANGING, FIXED, Game
from metamem.domains.alfworld.goals import goal_block
from metamem.domains.alfworld.homes import HABITS
from metamem.domains.alfworld.tables import ACCEPTS, FIXTURES

_TASK = re.compile(r"Your task is to: .*?\.\"")
_AGENT = "agent1"


def problem_text(game: Game, name: str = "own") -> str:
    """The game as a PDDL problem; reading it gives the same game."""
    objects = [f"{_AGENT} - agent"]
    # The domain text names some types even where the room has none of them: declare them all.
    thing_types = {*HABITS, *FIXTURES, *(t.type for t in game.things)}
    receptacle_types = {*ACCEPTS, *(r.type for r in game.receptacles)}
    objects += [f"{t}type - otype" for t in sorted(thing_types)]
    objects += [f"{t}type - rtype" for t in sorted(receptacle_types)]
    objects += [f"{t.id} - object" for t in game.things]
    objects += [f"{r.id} - receptacle" for r in game.receptacles]
    locations = {game.start, *(r.location for r in game.receptacles), *(at for _, at in game.lying)}
    objects += [f"{location} - location" for location in sorted(locations)]
    return (
        f"(define (problem {name})\n(:domain alfred)\n(:objects\n{_lines(objects)}\n)\n"
        f"(:init\n{_lines(f'({fact})' for fact in _facts(game))}\n)\n{goal_block(game.goal)}\n)\n"
    )


def game_content(game: Game, template: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a game file holds. Without a template only our own engine can read it."""
    task = f'Your task is to: {game.sentence}."'
    template = template or {"pddl_domain": "", "grammar": f'"{task}'}
    return {
        "pddl_domain": template["pddl_domain"],
        "grammar": _TASK.sub(lambda _: task, template["grammar"], count=1),
        "pddl_problem": problem_text(game),
        "solvable": True,
        "walkthrough": list(game.walkthrough),
    }


def _facts(game: Game) -> Iterable[str]:
    things, receptacles = game.things, game.receptacles
    yield f"atlocation {_AGENT} {game.start}"
    for receptacle in receptacles:
        yield f"receptacletype {receptacle.id} {receptacle.type}type"
        yield f"receptacleatlocation {receptacle.id} {receptacle.location}"
        if receptacle.openable:
            yield f"openable {receptacle.id}"
    for index in sorted(game.opened):
        yield f"opened {receptacles[index].id}"
    for number, thing in enumerate(things):
        yield f"objecttype {thing.id} {thing.type}type"
        yield from (f"{fact} {thing.id}" for fact in FIXED if fact in thing.fixed)
        yield from (f"{fact} {thing.id}" for fact in CHANGING if number in game.states[fact])
    yield from (f"inreceptacle {things[t].id} {receptacles[r].id}" for t, r in sorted(game.placed))
    yield from (f"objectatlocation {things[t].id} {at}" for t, at in sorted(game.lying))
    yield from (f"inreceptacleobject {things[i].id} {things[o].id}" for i, o in sorted(game.inside))
    yield from (f"cancontain {r}type {t}type" for r, t in sorted(game.accepts))


def _lines(items: Iterable[str]) -> str:
    return "\n".join(f"  {item}" for item in items)
