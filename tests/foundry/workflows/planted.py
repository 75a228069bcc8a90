"""Sessions in which a chore comes again among noise, and sessions in which nothing does."""

from random import Random

from metamem.foundry.words import Outcome, Trace, Use

WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "islet",
    "jolly",
    "kayak",
    "lemon",
    "maple",
    "north",
]
NOISE = [f"tool{k} --fix {{}}" for k in range(25)]


def session(name: str, commands: list[tuple[str, str]], goal: str, at: int = 0) -> Trace:
    uses = tuple(
        Use(f"{name}-{n}", "Bash", {"command": text}, out, failed=False, at=at + n, prompt="p")
        for n, (text, out) in enumerate(commands)
    )
    return Trace("t/project/p", "claude", name, uses, {"p": goal}, Outcome("exit", True, 0.4))


def noise(random: Random) -> tuple[str, str]:
    return random.choice(NOISE).format(random.choice(WORDS)), ""


def planted(seed: int, chores: int = 14, others: int = 14) -> list[Trace]:
    """`token` goes from an output into a step, a loop runs over files, linting is left out at times."""
    random = Random(seed)
    made = []
    for n in range(chores):
        name, token = "_".join(random.sample(WORDS, 2)), f"{random.getrandbits(32):08x}"
        steps = [(f"vault issue --for {name}", f"token: {token}\n")]
        steps += [
            (f"convert --in {f} --deep", "") for f in random.sample(WORDS, random.randint(1, 3))
        ]
        steps += [("lint --strict", "")] if random.random() < 0.6 else []
        steps += [(f"deploy --as {name} --key {token}", ""), (f"git tag rel-{name}", "")]
        for _ in range(random.randint(0, 2)):
            steps.insert(random.randint(0, len(steps)), noise(random))
        made.append(session(f"chore{n}", steps, f"please deploy {name}", n))
    return made + null(seed + 1_000, others)


def null(seed: int, sessions: int = 30) -> list[Trace]:
    random = Random(seed)
    return [
        session(f"other{n}", [noise(random) for _ in range(random.randint(2, 8))], f"job {n}", n)
        for n in range(sessions)
    ]
