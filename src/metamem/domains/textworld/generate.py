"""Own games: made once, in parallel, and kept by content key in the user's cache folder."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from metamem.core import extras
from metamem.core.cache import cache_folder
from metamem.core.errors import EngineFault
from metamem.core.system import cores
from metamem.domains.textworld.recipes import Recipe

FACTORY = "metamem.domains.textworld.factory"
TOLD_EVERY = 10  # games, where nobody sits at a terminal


def games_folder() -> Path:
    return cache_folder() / "textworld"


def games(recipes: Sequence[Recipe]) -> list[Path]:
    """The `.z8` file of each recipe; those not yet in the cache are made."""
    engine = version("textworld")
    folders = [games_folder() / recipe.key(engine) for recipe in recipes]
    missing = {f: r for f, r in zip(folders, recipes, strict=True) if not f.is_dir()}
    if missing:
        _make(missing)
    return [folder / "game.z8" for folder in folders]


def _make(missing: dict[Path, Recipe]) -> None:
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    for folder, recipe in missing.items():
        order = {
            "folder": str(folder),
            "family": recipe.family,
            "settings": dict(recipe.settings),
            "seed": recipe.seed,
            "length": recipe.length,
        }
        orders.put(json.dumps(order))
    said = _Progress(len(missing))
    hands = min(len(missing), cores())
    with ThreadPoolExecutor(hands) as pool:
        for done in [pool.submit(_work, orders, said) for _ in range(hands)]:
            done.result()


def _work(orders: "queue.SimpleQueue[str]", said: "_Progress") -> None:
    """One process that makes games until none is left to make."""
    with subprocess.Popen(
        [sys.executable, "-m", FACTORY, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            while not orders.empty():
                try:
                    order = orders.get_nowait()
                except queue.Empty:
                    return
                process.stdin.write(order + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
                reply = json.loads(line) if line else {"error": "its process died"}
                if "broken" in reply:
                    raise extras.broken("textworld", reply["broken"])
                if "error" in reply:
                    raise EngineFault(f"TextWorld could not make a game: {reply['error']}")
                said.one_more()
        finally:
            process.kill()


class _Progress:
    """Tells whoever waits: a line that counts at a terminal, a few lines elsewhere."""

    def __init__(self, total: int) -> None:
        self._total, self._made, self._lock = total, 0, threading.Lock()
        self._begun, self._live = time.monotonic(), sys.stderr.isatty()
        self._tell(f"making {total} TextWorld games, once, in {games_folder()}\n")

    def one_more(self) -> None:
        with self._lock:
            self._made += 1
            last = self._made == self._total
            told = f"  {self._made} of {self._total} games"
            if not last:
                left = (time.monotonic() - self._begun) / self._made * (self._total - self._made)
                told += f", about {left:.0f} s left"
            if self._live:
                self._tell(f"\r{told:<50}" + ("\n" if last else ""))
            elif last or self._made % TOLD_EVERY == 0:
                self._tell(f"{told}\n")

    def _tell(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
