"""Boxoban levels: published files of small box-pushing puzzles, read where they lie."""

import random
from functools import lru_cache
from pathlib import Path

from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.types import Task
from metamem.domains.minihack.tasks import BOXOBAN, BOXOBAN_SETS


def _files(folder: Path) -> dict[str, list[Path]]:
    """The files of each game's level set, by the game's name; sets that are absent left out."""
    found = {name: sorted((folder / part).glob("*.txt")) for name, part in BOXOBAN_SETS.items()}
    found = {name: files for name, files in found.items() if files}
    if not found:
        raise UsageError(
            f"no Boxoban levels in {folder}",
            hint=f"it should hold at least one of {', '.join(BOXOBAN_SETS.values())}",
        )
    return found


@lru_cache(maxsize=8)
def levels_in(path: Path) -> tuple[str, ...]:
    """The levels of one file, each without its number line."""
    try:
        text = path.read_text()
    except OSError as error:
        raise DataError(f"cannot read Boxoban levels from {path}: {error}") from error
    blocks = [block.strip("\n") for block in text.split("\n\n")]
    return tuple(block.partition("\n")[2] + "\n" for block in blocks if block)


def levels_id(folder: Path) -> str:
    """Names the content of all level files."""
    files = [path for found in _files(folder).values() for path in found]
    return content_id([[str(path.relative_to(folder)), path.read_text()] for path in files])


def boxoban_tasks(folder: Path, size: int, seed: int) -> list[Task]:
    """Levels drawn evenly from the sets that there are."""
    rng = random.Random(derive_seed("minihack boxoban", seed))
    pools = {
        name: rng.sample(places, len(places))
        for name, files in _files(folder).items()
        if (places := [(path, number) for path in files for number in range(len(levels_in(path)))])
    }
    tasks = []
    for number in range(size):
        name = sorted(pools)[number % len(pools)]
        if not pools[name]:
            continue
        path, level = pools[name].pop()
        file = str(path.relative_to(folder))
        data = {"name": name, "seed": 0, "folder": str(folder), "file": file, "level": level}
        identity = f"shift-{derive_seed(file, level) % 16**10:010x}"
        tasks.append(Task(identity, BOXOBAN, "boxoban", data))
    return tasks
