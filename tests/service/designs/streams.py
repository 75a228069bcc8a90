"""Streams of moments: one where what was lived through says what works, and one where nothing does."""

import random
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.types import Experience, Query, Step
from metamem.service.access.rights import owner_of_file
from metamem.service.designs.moments import enter_asked, enter_experience
from metamem.service.designs.trials import Choice
from metamem.service.designs.words import Advised
from metamem.service.service import MemoryService

HERE = Scope("local", "project", "stream")
SERVICES = ("billing", "search", "login", "mail", "cart", "stock", "maps", "chat", "feed", "print")
LEVERS = ("amber", "blue", "coral", "dusky", "ebony", "fawn", "green", "hazel", "ivory", "jade")
_IDLE = ("read the long manual of operations", "ask around in the corridor for a while")


def recorded(folder: Path, moments: int, *, planted: bool, seed: int = 0) -> None:
    """Planted: each service is mended by a lever of its own, always. Else by any, as chance has it."""
    rng = random.Random(seed)
    right = dict(zip(SERVICES, rng.sample(LEVERS, len(LEVERS)), strict=True))
    service = MemoryService(folder)
    number = service.make_scope(HERE)
    with service.database.writing() as execute:
        caller = owner_of_file(execute)
        for n in range(moments):
            broken = rng.choice(SERVICES)
            lever = right[broken] if planted else rng.choice(LEVERS)
            goal = f"mend {broken}"
            query = Query(goal, f"{broken} is down", ("pull a lever",))
            asked = Advised(f"m{n:05}")  # not by chance: what a search finds hangs on names
            enter_asked(execute, number, caller, query, "", Choice(""), asked)
            steps = [Step(idle, f"{rng.random():.6f}") for idle in _IDLE * rng.randint(18, 24)]
            steps.append(Step(f"pull the {lever} lever", "it runs again", (), 1.0, True))
            lived = Experience(goal, query.observation, query.actions, tuple(steps), 1.0)
            enter_experience(execute, number, str(HERE), caller, lived.to_json(), asked.moment, ())
    service.close()
