"""Corrections told in conversations: does the newer word come first, and is nothing else disturbed?

    python -m bench.corrections [--talks 2]

Pairs of a line and its correction, in one conversation and three days apart, each among other lines:
how often recall tells the newer one before the older one, with and without the ties that ingesting
makes. Beside it conversations of LoCoMo (in METAMEM_DATA) on the three on which settings may be chosen:
how many lines are tied, and recall with and without.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from bench.memory_talks import CHOSEN_ON, Talk, locomo
from metamem.service.recall import recaller
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Session, Turn

PAIRS = (
    ("The test database listens on port 5432.", "No, the port is 5433 now.",
     "Which port does the test database use?"),
    ("We deploy from the main branch.", "Actually, we deploy from the release branch now.",
     "Which branch do we deploy from?"),
    ("The API limit is 100 requests per minute.",
     "Correction: the API limit is 50 requests per minute.", "What is the API limit?"),
    ("Our CI runs on Jenkins.", "No, the CI runs on GitHub Actions now.",
     "What does the CI run on?"),
    ("Standup is at 9:30 every day.", "Actually standup moved to 10:00.", "When is standup?"),
    ("Maria owns the billing module.", "No, Tom owns the billing module since March.",
     "Who owns the billing module?"),
    ("Use npm to install packages.", "no, use pnpm, not npm",
     "Which package manager do we use to install packages?"),
    ("The staging server is staging1.example.com", "No, staging is staging2.example.com now",
     "What is the staging server?"),
)  # fmt: skip
AROUND = (
    "Let me look at the project first.",
    "ok let me see the tests",
    "The tests run in a few minutes on this machine.",
    "Thanks, noted.",
)
SHOP = "local/project/shop"
BEGUN, DAY = 1_790_000_000_000, 86_400_000


@contextmanager
def ties(on: bool) -> Iterator[None]:
    """With what ingesting tied together, or as if it had not."""
    if on:
        yield
        return
    with patch.object(recaller, "corrected_first", lambda execute, view, ask, shown: (shown, {})):
        yield


def newer_first(apart: int) -> int:
    """In how many pairs the newer line comes first."""
    count = 0
    for old, new, asked in PAIRS:
        with _service() as service:
            said = [AROUND[0], old, *AROUND[1:3], new, AROUND[3]]
            who = ["agent", "agent", "user", "agent", "user", "agent"]
            turns = [
                Turn(speaker, text, speaker, BEGUN + n * 60_000 + apart * (n > 3), str(n))
                for n, (speaker, text) in enumerate(zip(who, said, strict=True))
            ]
            memories = service.local()
            memories.ingest(SHOP, Session("first", tuple(turns[:4])))
            memories.ingest(SHOP, Session("later" if apart else "first", tuple(turns[4:])))
            found = memories.recall(Ask(asked, (SHOP,), 5, now=BEGUN + 5 * DAY))
            texts = [item.fact.text for item in found.items]
            count += new in texts and (old not in texts or texts.index(new) < texts.index(old))
    return count


def conversations(talks: Sequence[Talk]) -> tuple[int, int, dict[bool, tuple[float, float]]]:
    """Lines, ties, and R@10 and MRR with and without them."""
    lines = tied = 0
    gained: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for talk in talks:
        with _service() as service:
            memories = service.local()
            numbers = sorted({line.session for line in talk.lines})
            for session in numbers:
                turns = [
                    Turn(line.author, line.text, "user", line.said_at, str(place))
                    for place, line in enumerate(talk.lines)
                    if line.session == session
                ]
                memories.ingest(SHOP, Session(str(session), tuple(turns)))
            service.reindex(service.local_caller())
            with service.database.reading() as execute:
                ((count,),) = execute("SELECT COUNT(*) FROM links WHERE kind = 'contradicts'")
            lines, tied = lines + len(talk.lines), tied + count
            for on in (True, False):
                with ties(on):
                    gained[on] += [_judged(service, talk, n) for n in range(len(talk.questions))]
    means = {
        on: (sum(r for r, _ in rows) / len(rows), sum(m for _, m in rows) / len(rows))
        for on, rows in gained.items()
    }
    return lines, tied, means


def _judged(service: MemoryService, talk: Talk, number: int) -> tuple[float, float]:
    asked = talk.questions[number]
    ask = Ask(asked.text, (SHOP,), 10, 20_000, floor=0.0, now=asked.now)
    places = [
        int(item.fact.origin.rpartition("#")[0]) for item in service.local().recall(ask).items
    ]
    hits = [rank for rank, place in enumerate(places, 1) if place in asked.evidence]
    return len(set(places) & asked.evidence) / len(asked.evidence), 1 / hits[0] if hits else 0.0


@contextmanager
def _service() -> Iterator[MemoryService]:
    with tempfile.TemporaryDirectory() as folder:
        service = MemoryService(Path(folder))
        try:
            yield service
        finally:
            service.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--talks", type=int, default=3)
    given = parser.parse_args()
    for words, apart in (("in one conversation", 0), ("three days later", 3 * DAY)):
        counts = {}
        for on in (False, True):
            with ties(on):
                counts[on] = newer_first(apart)
        print(
            f"{words}: newer first in {counts[True]} of {len(PAIRS)}, without ties {counts[False]}"
        )
    if not given.talks:
        return
    talks = [talk for talk in locomo() if talk.name in CHOSEN_ON][: given.talks]
    lines, tied, means = conversations(talks)
    print(f"LoCoMo, {len(talks)} conversations: {tied} ties in {lines} lines")
    for on, words in ((True, "with"), (False, "without")):
        print(f"  {words} ties: R@10 {means[on][0]:.4f}, MRR {means[on][1]:.4f}")


if __name__ == "__main__":
    main()
