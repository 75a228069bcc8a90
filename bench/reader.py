"""What the offline reader does with advice in ALFWorld, and how fast it plays.

python -m bench.reader                  on generated training games
python -m bench.reader --data FOLDER    on official training games too
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metamem.agents.random_agent import RandomAgent
from metamem.agents.reader import Reader
from metamem.agents.text import content_words
from metamem.core.ids import derive_seed
from metamem.core.protocols import Agent, Domain, Seat
from metamem.core.types import Task
from metamem.domains.alfworld.domain import AlfworldDomain

GAMES = 200
REPEATS = 3


@dataclass(frozen=True)
class Setting:
    """What one kind of advice is made from: a task, the others, and what its world shows."""

    domain: Domain
    task: Task
    others: Sequence[Task]

    @property
    def rng(self) -> random.Random:
        return random.Random(derive_seed("advice", self.task.id))

    def places(self) -> list[str]:
        """Kinds of places one can go to, as the first action list shows them."""
        actions = self.domain.world(self.task, 0).reset().actions
        return sorted({a.split()[2] for a in actions if a.startswith("go to ")})


def without_numbers(text: str) -> str:
    return re.sub(r" \d+", "", text)


def none(setting: Setting) -> str:
    return ""


def oracle(setting: Setting) -> str:
    return setting.domain.oracle(setting.task)


def oracle_in_kinds(setting: Setting) -> str:
    return without_numbers(oracle(setting))


def irrelevant(setting: Setting) -> str:
    """The steps of another task that names nothing this goal names."""
    goal = set(content_words(setting.task.goal))
    order = list(setting.others)
    setting.rng.shuffle(order)
    for other in order:
        steps = setting.domain.oracle(other)
        if goal.isdisjoint(content_words(steps)):
            return f"A past episode:\n{steps}"
    return ""


def misleading(setting: Setting) -> str:
    """The right steps, sent to places where they do not work."""
    steps = oracle_in_kinds(setting)
    rng, places = setting.rng, setting.places()
    wrong = [place for place in places if place not in steps.split()] or ["nowhere"]
    lie = {place: rng.choice(wrong) for place in places}
    return "\n".join(
        " ".join(lie.get(word, word) for word in step.split()) for step in steps.splitlines()
    )


def wrong_note(setting: Setting) -> str:
    """A note that names places where the thing that is looked for does not lie."""
    steps = oracle_in_kinds(setting).split()
    wrong = [place for place in setting.places() if place not in steps]
    return f"{_thing(setting)}: {', '.join(wrong[:5])}"


def right_note(setting: Setting) -> str:
    """A note that names the one kind of place where it lies, and nothing else."""
    taken = next(s for s in oracle_in_kinds(setting).splitlines() if s.startswith("take "))
    return f"{_thing(setting)}: {taken.split()[-1]}"


def _thing(setting: Setting) -> str:
    taken = next(s for s in oracle_in_kinds(setting).splitlines() if s.startswith("take "))
    return taken.split()[1]


ADVICE: dict[str, Callable[[Setting], str]] = {
    "none": none,
    "irrelevant steps": irrelevant,
    "misleading steps": misleading,
    "note: wrong places": wrong_note,
    "note: right place": right_note,
    "oracle, numbers stripped": oracle_in_kinds,
    "oracle": oracle,
}
ABLATIONS: dict[str, Agent] = {
    "none, goal overlap off": Reader(goal=0, seen=0, stray=0),
    "none, undo penalty off": Reader(undo=0),
    "none, random agent": RandomAgent(),
}


async def play(agent: Agent, domain: Domain, task: Task, seed: int, advice: str) -> list[str]:
    """The actions of one episode; the last one is `won` where the task was solved."""
    player = agent.start(Seat(task.goal, seed))
    if advice:
        player.advise(advice)
    world = domain.world(task, seed)
    seen = world.reset()
    actions: list[str] = []
    while len(actions) < domain.max_steps and not seen.done:
        actions.append(await player.act(seen))
        seen = world.step(actions[-1])
    world.close()
    return [*actions, "won"] if seen.reward > 0 else actions


def advices(domain: Domain, tasks: Sequence[Task], kind: Callable[[Setting], str]) -> list[str]:
    return [kind(Setting(domain, task, tasks)) for task in tasks]


def measure(
    agent: Agent, domain: Domain, tasks: Sequence[Task], told: Sequence[str], repeats: int
) -> tuple[float, float]:
    """Success in per cent, and steps per second of CPU time, engine included."""

    async def all_episodes() -> list[list[str]]:
        return [
            await play(agent, domain, task, seed, advice)
            for seed in range(repeats)
            for task, advice in zip(tasks, told, strict=True)
        ]

    began = time.process_time()
    episodes = asyncio.run(all_episodes())
    spent = time.process_time() - began
    won = sum(episode[-1] == "won" for episode in episodes)
    return 100 * won / len(episodes), (sum(map(len, episodes)) - won) / spent


def table(domain: Domain, games: int, repeats: int) -> dict[str, dict[str, float]]:
    tasks = domain.tasks("train")[:games]
    reader = Reader()
    cases = {name: (reader, advices(domain, tasks, kind)) for name, kind in ADVICE.items()}
    nothing = [""] * len(tasks)
    cases |= {name: (agent, nothing) for name, agent in ABLATIONS.items()}  # type: ignore[misc]
    measure(reader, domain, tasks, nothing, 1)  # games loaded, word caches warm
    rows = {}
    for name, (agent, told) in cases.items():
        success, speed = measure(agent, domain, tasks, told, repeats)
        rows[name] = {"success": round(success, 1), "steps_per_s": round(speed)}
    for row in rows.values():
        row["ratio"] = round(row["success"] / max(rows["none"]["success"], 0.1), 2)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with official games (holds json_2.1.1)")
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    result = {}
    for data in ["generated", *([chosen.data] if chosen.data else [])]:
        name = "generated" if data == "generated" else "official"
        domain = AlfworldDomain(data=data, train=chosen.games)
        result[name] = table(domain, chosen.games, chosen.repeats)
    if chosen.json:
        print(json.dumps({"agent": Reader().fingerprint, "success": result}))
        return 0
    print(
        f"{Reader().fingerprint}, {chosen.games} training games × {chosen.repeats} seeds, 30 steps"
    )
    for name, rows in result.items():
        print(f"\n{name} games{'':18} success   against none   steps/s (CPU, one core)")
        for case, row in rows.items():
            print(
                f"{case:30} {row['success']:6.1f} %  {row['ratio']:8.2f} times  {row['steps_per_s']:12,.0f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
