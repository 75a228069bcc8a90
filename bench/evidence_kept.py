"""Finished runs of bench.evidence that come along with the code: a file for each, and the state it is of.

A run takes minutes and a table takes dozens of runs, so they are rarely all made on one machine. What a
run depends on is the code of the domain, the agents, the designs and the search; where that has changed
since, the run is of an earlier state, is named as such, and is played again.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import metamem
from bench.computing import computing
from metamem.core.ids import content_id
from metamem.runs.summary import Summary

PACKAGE = Path(metamem.__file__).parent
# What a run without a model is made of. Designs that come along are not: a run begins without them.
PARTS = (
    "agents",
    "designs/blocks",
    "designs/human",
    "designs/thinking",
    "designs/toolbox",
    "evaluation",
    "runs/config.py",
    "runs/confirming.py",
    "runs/searching.py",
    "search",
)
OF_NO_RUN = ("evaluation/offpolicy", "search/handoff", "search/llm", "search/parameters")
_ACCOUNT = "cpu"  # a line for each process that worked on the run
KINDS = {".py", ".toml", ".md", ".txt", ".json"}


@dataclass(frozen=True, slots=True)
class Kept:
    summary: Summary
    present: bool  # of the code as it is
    cpu_seconds: float = 0.0  # of all processes; 0: not counted


def state(domain: str) -> str:
    """Equal as long as nothing has changed that a run of this domain depends on."""
    name, _, own = domain.partition(":")
    place = Path(name).parent if own else PACKAGE / "domains" / name
    places = [PACKAGE / part for part in PARTS]
    places.append(place if place.is_dir() else place.with_suffix(".py"))
    # Folders are named and not numbered by their place: a checkout may lie anywhere.
    return content_id(*(text for one in places for text in _texts(one)))


def _texts(place: Path) -> Iterator[list[str]]:
    left_out = [PACKAGE / part for part in OF_NO_RUN]
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if path.suffix not in KINDS or any(path.is_relative_to(one) for one in left_out):
            continue
        yield [str(path.relative_to(place.parent)), path.read_text(encoding="utf-8")]


@contextmanager
def counted(folder: Path) -> Iterator[None]:
    """Adds what this process and all that came of it compute to the run's account.

    Runs are made beside other work, where time by the clock tells nothing of what they cost.
    """
    try:
        with computing() as spent:
            yield
    finally:
        with (folder / _ACCOUNT).open("a", encoding="utf-8") as account:
            account.write(f"{spent.seconds or 0.0:.1f}\n")


def computed(folder: Path) -> float:
    return sum(map(float, (folder / _ACCOUNT).read_text(encoding="utf-8").split()))


def keep(
    folder: Path, label: str, seed: int, domain: str, summary: Summary, cpu_seconds: float = 0.0
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = {
        "state": state(domain),
        "cpu_seconds": round(cpu_seconds, 1),
        "summary": summary.to_json(),
    }
    written = _file(folder, label, seed).with_suffix(".part")
    written.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    written.replace(_file(folder, label, seed))


def read(folder: Path, label: str, seed: int, domain: str) -> Kept | None:
    file = _file(folder, label, seed)
    if not file.is_file():
        return None
    found = json.loads(file.read_text(encoding="utf-8"))
    return Kept(
        Summary.from_json(found["summary"]),
        found["state"] == state(domain),
        found.get("cpu_seconds", 0.0),
    )


def _file(folder: Path, label: str, seed: int) -> Path:
    return folder / f"{label}-{seed}.json"
