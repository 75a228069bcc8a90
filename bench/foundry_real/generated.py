"""Sessions by the thousand, with chores that come again among noise and failures: for measuring time."""

from random import Random

from metamem.foundry.words import Outcome, Trace, Use

_SYLLABLES = ["ba", "ko", "mi", "ru", "ta", "ne", "so", "lu", "va", "pi", "do", "ge"]


def generated(uses: int, seed: int = 0, length: int = 20) -> list[Trace]:
    """Sessions of about `length` uses, as many as give so many uses."""
    random = Random(seed)
    chores = [_chore(random, number) for number in range(max(4, uses // 500))]
    traces = []
    made = 0
    while made < uses:
        trace = _session(random, f"s{len(traces)}", chores, length)
        made += len(trace.uses)
        traces.append(trace)
    return traces


def _word(random: Random) -> str:
    return "".join(random.choice(_SYLLABLES) for _ in range(3))


def _chore(random: Random, number: int) -> list[str]:
    steps = random.randint(3, 6)
    return [f"prog{number}x{step} --to {{}} --mode m{number}" for step in range(steps)]


def _session(random: Random, name: str, chores: list[list[str]], length: int) -> Trace:
    lines: list[tuple[str, int]] = []
    while len(lines) < length:
        if random.random() < 0.3:
            value = _word(random)
            lines += [(step.format(value), 0) for step in random.choice(chores)]
        elif random.random() < 0.2:
            tool, target = random.randint(0, 40), _word(random)
            lines += [(f"t{tool} go {target}", 1), (f"t{tool} go --really {target}", 0)]
        else:
            lines.append((f"t{random.randint(0, 400)} go {_word(random)}", 0))
    uses = tuple(
        Use(f"{name}-{at}", "Bash", {"command": line}, "", "Error: cannot go" if code else "",
            failed=bool(code), exit_code=code, at=at, prompt="p")
        for at, (line, code) in enumerate(lines)
    )  # fmt: skip
    return Trace("g/project/g", "claude", name, uses, {"p": "go on"}, Outcome("exit", True, 0.4))
