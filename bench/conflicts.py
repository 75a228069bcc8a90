"""How well repeats, replacements and contradictions are told apart, on labelled pairs of facts.

python -m bench.conflicts            figures for each kind
python -m bench.conflicts --misses   and the pairs that were judged otherwise
"""

import argparse
import time
from collections import Counter
from collections.abc import Sequence

from tests.service.writing.pairs import PAIRS, UNSEEN

from metamem.service.writing.similar import compare
from metamem.service.writing.statement import Statement

KINDS = ("repeats", "supersedes", "contradicts", "none")


def judged(older: str, newer: str) -> str:
    found = compare(Statement(newer), Statement(older))
    return found.kind if found else "none"


def figures(pairs: Sequence[tuple[str, str, str]]) -> dict[str, tuple[float, float, int]]:
    """Precision, recall and number of pairs by kind; `conflict` is either way of not agreeing."""
    counted = Counter((label, judged(older, newer)) for older, newer, label in pairs)
    conflict = {"supersedes", "contradicts"}
    rows = {kind: _figures(counted, {kind}) for kind in KINDS}
    return rows | {"conflict": _figures(counted, conflict)}


def _figures(counted: Counter[tuple[str, str]], kinds: set[str]) -> tuple[float, float, int]:
    right = sum(n for (label, found), n in counted.items() if label in kinds and found in kinds)
    told = sum(n for (_, found), n in counted.items() if found in kinds)
    there = sum(n for (label, _), n in counted.items() if label in kinds)
    return right / told if told else 0.0, right / there if there else 0.0, there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--misses", action="store_true")
    misses = parser.parse_args().misses
    for name, pairs in (("settled on", PAIRS), ("unseen", UNSEEN)):
        print(f"{name}: {len(pairs)} pairs | precision | recall | pairs")
        for kind, (precision, recall, there) in figures(pairs).items():
            print(f"{kind:11} | {precision:.2f} | {recall:.2f} | {there}")
    begun = time.perf_counter()
    for _ in range(20):
        for older, newer, _label in PAIRS:
            judged(older, newer)
    each = (time.perf_counter() - begun) / 20 / len(PAIRS)
    print(f"{each * 1e6:.0f} µs a pair, taking both apart included")
    if misses:
        for older, newer, label in (*PAIRS, *UNSEEN):
            if (found := judged(older, newer)) != label:
                print(f"{label} judged {found}: {older} / {newer}")


if __name__ == "__main__":
    main()
