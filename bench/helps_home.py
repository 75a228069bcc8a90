"""Household tasks of one home: the same rooms and things day after day, another errand each day.

A home is one generated game of ALFWorld. Its things stay where they are from day to day, but some:
each is moved with a small chance, so that what was seen once may no longer hold. Every day begins as
the home stands that day, whatever anybody did in it before, so that all conditions meet the same.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from bench.helps_stream import Lesson
from metamem.agents.reader import Reader
from metamem.agents.text import content_words
from metamem.core.episode import play
from metamem.core.ids import derive_seed
from metamem.core.protocols import Seat
from metamem.core.types import Episode, Task
from metamem.domains.alfworld.engine import AlfworldWorld
from metamem.domains.alfworld.game import Game
from metamem.domains.alfworld.generator import LAMP, PROCESSES, generate
from metamem.domains.alfworld.goals import LOOK, SENTENCES, TWO, Goal
from metamem.domains.alfworld.tables import ACCEPTS, FIXTURES
from metamem.service.words import Ask, Recalled, Session

MOVED = 0.1  # of the things, each day
STEPS = 30
SEEN = re.compile(r"(?:On|In) (?:the ([a-z]+ \d+)|it), you see ([^.]*)\.")
OPENED = re.compile(r"The ([a-z]+ \d+) is open")
WITH = re.compile(r"([a-z]+) [a-z]+ \d+ with ([a-z]+ \d+)")
THING = re.compile(r"\ba ([a-z]+ \d+)")


class Home:
    """The reader is told where things were seen, and how errands like this one were done."""

    name = "home"
    conditions: Sequence[str] = (
        "none",
        "empty",
        "attached",
        "fenced",
        "plain",
        "ways",
        "evidence",
        "other",
        "alike",
        "oracle",
    )
    learns = True

    def __init__(self, homes: int, days: int, *, first: int = 0) -> None:
        self._homes, self._days, self._first = homes, days, first
        self._agent = Reader()

    @cached_property
    def _streams(self) -> dict[str, list[Task]]:
        """The first generated games that offer enough different errands."""
        found: dict[str, list[Task]] = {}
        number = self._first
        while len(found) < self._homes:
            name = f"home-{number}"
            games = list(_days(generate(0, "train", number), self._days, name))
            if len(games) == self._days:
                found[name] = [
                    Task(f"{name}-{day:02d}", game.sentence, game.goal.kind, {"game": game})
                    for day, game in enumerate(games)
                ]
            number += 1
        return found

    def groups(self) -> Sequence[str]:
        return list(self._streams)

    def tasks(self, group: str) -> Sequence[Task]:
        return self._streams[group]

    def whose(self, group: str, condition: str) -> str:
        """The home that has most in common with this one, or the one that has least."""
        rest = [other for other in self.groups() if other != group]
        chosen = max if condition == "alike" else min
        return chosen(rest, key=lambda other: len(self._things(group) & self._things(other)))

    def _things(self, group: str) -> set[str]:
        return {thing.type for thing in self.tasks(group)[0].data["game"].things}

    def history(self, group: str) -> Sequence[Session]:
        return ()

    async def play(self, task: Task, seed: int, advice: str) -> Episode:
        player = self._agent.start(Seat(task.goal, seed))
        if advice:
            player.advise(advice)
        world = AlfworldWorld(task.data["game"])
        return await play(task, world, player, None, max_steps=STEPS, advice_tokens=0)

    def lessons(self, task: Task, episode: Episode) -> Sequence[Lesson]:
        """Where each thing was seen last; the way that led to the goal, and what was done on it."""
        places: dict[str, str] = {}
        taken: set[str] = set()
        for step in episode.steps:
            if step.action.startswith("take "):
                taken.add(step.action.removeprefix("take ").partition(" from ")[0])
            places |= {t: p for t, p in _seen(step.observation) if t not in taken}
        notes = [
            Lesson(f"The {thing} is at the {place}.", "observation", thing)
            for thing, place in sorted(places.items())
        ]
        if episode.reward == 1:
            way = _way(episode)
            notes.append(Lesson(f"How to {task.goal}:\n{_listed(way)}", "summary"))
            if done := _done_with(way):
                notes.append(Lesson(f"How to {task.goal}, once it is taken:\n{_listed(done)}"))
        return notes

    def asks(self, task: Task, condition: str) -> Sequence[Ask]:
        """Where each thing is that the errand names and that is not to be seen; how it is done."""
        if condition in ("evidence", "plain"):
            types = ("turn",) if condition == "evidence" else ("observation",)
            return [Ask(task.goal, limit=6, tokens=300, types=types)]
        first = AlfworldWorld(task.data["game"]).reset().text
        shown = content_words(first.partition("Your task is")[0])
        asks = [
            Ask(f"Where is the {word}?", limit=3, tokens=200, types=("observation",))
            for word in content_words(task.goal)
            if word not in shown
        ]
        types = ("summary",) if condition == "ways" else ("insight",)
        return [*asks, Ask(f"How to {task.goal}?", limit=1, tokens=200, types=types)]

    def told(self, items: Sequence[Recalled]) -> str:
        return "\n\n".join(item.fact.text for item in items)

    def rival(self, group: str, task: Task, condition: str) -> str:
        """Where the things of the errand are today, and what to do with them, by one who knows."""
        game: Game = task.data["game"]
        wanted = {game.goal.object, LAMP} if game.goal.kind == LOOK else {game.goal.object}
        notes = [
            f"The {game.things[thing].name} is at the {game.receptacles[place].name}."
            for thing, place in sorted(game.placed)
            if game.things[thing].type in wanted
        ]
        if process := PROCESSES.get(game.goal.kind):
            place_name = next(r.name for r in game.receptacles if r.type == process[2])
            steps = [f"go to {place_name}", f"{process[0]} it with {place_name}"]
            notes.append(f"How to {task.goal}, once it is taken:\n{_listed(steps)}")
        return "\n\n".join(notes)


def _seen(text: str) -> Iterator[tuple[str, str]]:
    """(thing, place) for all that an observation shows."""
    for found in SEEN.finditer(text):
        opened = OPENED.search(text)
        place = found[1] or (opened[1] if opened else "")
        if place:
            yield from ((thing, place) for thing in THING.findall(found[2]))


def _way(episode: Episode) -> list[str]:
    """The actions that changed something, each with the walk and the opening before it."""
    kept: list[str] = []
    walk: list[str] = []
    for step in episode.steps:
        verb = step.action.split()[0]
        if verb == "go":
            walk = [step.action]
        elif verb == "open":
            walk.append(step.action)
        elif verb not in ("look", "inventory", "examine", "close", "help"):
            kept += [*walk, step.action]
            walk = []
    return kept


def _done_with(way: Sequence[str]) -> list[str]:
    """The last thing that was done with something that stands in the home, and the walk there."""
    done: list[str] = []
    for before, action in pairwise(way):
        if found := WITH.fullmatch(action):
            done = [before, f"{found[1]} it with {found[2]}"]
    return done


def _listed(steps: Sequence[str]) -> str:
    return "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))


# --- days -----------------------------------------------------------------------------------


def _days(home: Game, days: int, name: str) -> Iterator[Game]:
    """The home day by day, each with an errand that it did not have before."""
    rng = random.Random(derive_seed("helps home", name))
    placed = dict(sorted(home.placed))
    asked: set[Goal] = set()
    for _ in range(days):
        placed = {thing: _stays(rng, home, thing, place) for thing, place in placed.items()}
        today = replace(
            home,
            placed=frozenset(placed.items()),
            lying=frozenset((t, home.receptacles[p].location) for t, p in placed.items()),
            inside=frozenset(),
            states={fact: frozenset() for fact in home.states},
            walkthrough=(),
        )
        errands = [goal for goal in _errands(today) if goal not in asked]
        if not errands:
            return
        kind = rng.choice(sorted({goal.kind for goal in errands}))
        goal = rng.choice([goal for goal in errands if goal.kind == kind])
        asked.add(goal)
        yield replace(today, goal=goal, sentence=rng.choice(goal.sentences()))


def _stays(rng: random.Random, home: Game, thing: int, place: int) -> int:
    type_ = home.things[thing].type
    if rng.random() >= MOVED or type_ in FIXTURES:
        return place
    fitting = [n for n, r in enumerate(home.receptacles) if type_ in ACCEPTS[r.type]]
    return rng.choice(fitting) if fitting else place


def _errands(game: Game) -> list[Goal]:
    """Goals that can be reached and do not hold already."""
    places: dict[str, list[str]] = {}
    for thing, place in sorted(game.placed):
        if "pickupable" in game.things[thing].fixed or game.things[thing].type == LAMP:
            places.setdefault(game.things[thing].type, []).append(game.receptacles[place].type)
    targets = sorted({receptacle.type for receptacle in game.receptacles})
    found = []
    for kind in SENTENCES:
        process = PROCESSES.get(kind)
        for object_, stands in places.items():
            fixed = next(t.fixed for t in game.things if t.type == object_)
            if object_ == LAMP or (process and (process[1] not in fixed)):
                continue
            if process and process[2] not in targets:
                continue
            if kind == LOOK:
                found += [Goal(kind, object_, LAMP)] if LAMP in places else []
                continue
            if kind == TWO and len(stands) < 2:
                continue
            found += [
                Goal(kind, object_, target)
                for target in targets
                if object_ in ACCEPTS[target]
                and target not in stands
                and not (process and process[2] == target)
            ]
    return found
