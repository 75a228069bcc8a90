"""What preparing a text costs, and how often its rules are wrong.

python -m bench.preparing                own lines: planted secrets, lines that only look like some
python -m bench.preparing --data FILE    and the turns of a file in the format of LoCoMo
"""

import argparse
import json
import re
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.core.test_secrets import ORDINARY
from tests.service.writing.planted import SECRETS, texts
from tests.service.writing.test_trust import COMMANDS, PLAIN, RULES

from metamem.core.access import Caller
from metamem.core.secrets import redact
from metamem.core.terms import terms
from metamem.service.words import TRUST, Draft
from metamem.service.writing.dates import meant
from metamem.service.writing.entities import entities
from metamem.service.writing.prepare import prepare
from metamem.service.writing.trust import is_quarantined, strength

SAID = 1_683_723_600_000
LINE = "The shop runs on PostgreSQL 16 and keeps its sessions in Redis since last Friday, said Ada."
BUDGET = 50  # µs for the redaction of an ordinary line
_TIMES = re.compile(
    r"\b(?:yesterday|tomorrow|today|tonight|last (?:week|month|year|night|\w+day)|ago"
    r"|next (?:week|month|year)|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


def microseconds(work: Callable[[str], Any], lines: Sequence[str]) -> float:
    count = max(1, 2000 // len(lines))
    best = min(timeit.repeat(lambda: [work(line) for line in lines], number=count, repeat=5))
    return best / count / len(lines) * 1e6


def costs() -> None:
    steps: dict[str, Callable[[str], Any]] = {
        "secrets": redact,
        "instructions": strength,
        "dates": lambda text: meant(text, SAID),
        "names": entities,
        "terms of the index": terms,
        "all of a draft": lambda text: prepare(Draft(text), Caller("acme", "ada"), SAID),
    }
    print("µs for one ordinary line")
    for name, step in steps.items():
        print(f"  {name:20} {microseconds(step, [LINE]):6.1f}")
    print(f"  secrets, lines that look like some {microseconds(redact, ORDINARY):6.1f}")
    print(f"  secrets, lines that hold one       {microseconds(redact, texts()):6.1f}")
    print(f"  (budget for secrets: {BUDGET})")


def mistakes() -> None:
    missed = sum(secret in redact(around.format(secret)).text for _, secret, around in SECRETS)
    taken = sum(redact(line).text != line for line in ORDINARY)
    print(f"secrets: {missed} of {len(SECRETS)} planted ones missed, {taken} of {len(ORDINARY)}")
    print("  lines without one changed")
    let_through = sum(not is_quarantined(TRUST["tool"], "note", text) for text in COMMANDS + RULES)
    held = sum(is_quarantined(TRUST["tool"], "note", text) for text in PLAIN)
    print(f"instructions: {let_through} of {len(COMMANDS + RULES)} let through from a tool,")
    print(f"  {held} of {len(PLAIN)} ordinary notes held back")


def on_talks(path: Path) -> None:
    talks = [talk["conversation"] for talk in json.loads(path.read_text(encoding="utf-8"))]
    turns = [
        turn["text"]
        for talk in talks
        for name, value in talk.items()
        if name.startswith("session_") and isinstance(value, list)
        for turn in value
    ]
    changed = sum(redact(turn).text != turn for turn in turns)
    kinds = [strength(turn) for turn in turns]
    timed = [turn for turn in turns if _TIMES.search(turn)]
    dated = sum(meant(turn, SAID)[0] is not None for turn in timed)
    print(
        f"{path.name}, {len(turns)} turns: {changed} redacted; read as commands {kinds.count('command')},"
    )
    print(f"  as rules {kinds.count('rule')} (held back from tools alone);")
    print(f"  {dated} of {len(timed)} with a word of time are dated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    costs()
    mistakes()
    if given.data:
        on_talks(given.data)


if __name__ == "__main__":
    main()
