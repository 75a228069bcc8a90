"""What long work shows while it runs: a live bar on a terminal, a line now and then elsewhere."""

import sys
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from types import TracebackType
from typing import Self

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn
from rich.text import Text

from metamem.cli.screen import err
from metamem.core.progress import Progress as Watch
from metamem.core.progress import Silent
from metamem.core.stopwatch import Stopwatch

LINE_SECONDS = 10.0
NARROW = 70  # columns; below, the bar goes first
WAITING = "waiting for a design"


def duration(seconds: float) -> str:
    """A span of time in one or two units, as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min" if minutes >= 10 or not rest else f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


class Phase:
    """How far a phase is and how fast it goes."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total = name, total
        self.done = self.played = 0
        self.watch = Stopwatch()

    @property
    def seconds(self) -> float:
        """Since the phase began, but for the time that somebody else was waited for."""
        return self.watch.seconds()

    def waiting(self, yes: bool) -> None:
        if yes:
            self.watch.pause()
        else:
            self.watch.resume()

    @property
    def rate(self) -> float:
        """Cases a second since the phase began."""
        return self.played / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds to go if it goes on like this; None where nothing tells."""
        if not self.done or self.done > self.total:
            return None
        return self.seconds / self.done * (self.total - self.done)

    def speed(self) -> str:
        """How fast it goes and, where the phase is not counted in cases, how many there were."""
        if not self.played:
            return ""
        fast = self.rate >= 1
        pace = f"{self.rate:.0f} cases/s" if fast else f"{duration(1 / self.rate)} a case"
        in_cases = self.played - self.done <= 1  # the one may be about to be counted
        return pace if in_cases else f"{self.played} cases, {pace}"

    def time_left(self) -> str:
        return "" if self.left is None else f"{duration(self.left)} left"


class Lines:
    """For logs and pipes: a line when a phase begins, and at most one every ten seconds."""

    def __init__(self) -> None:
        self._phase = Phase("", 0)
        self._told = time.monotonic()

    def phase(self, name: str, total: int = 0) -> None:
        self._end()
        self._phase = Phase(name, total)
        self._told = time.monotonic()
        self._write(f"{name} ({total})" if total else name)

    def advance(self, amount: int = 1) -> None:
        self._phase.done += amount
        self._now_and_then()

    def cases(self, amount: int = 1) -> None:
        self._phase.played += amount
        self._now_and_then()

    def waiting(self, yes: bool) -> None:
        self._phase.waiting(yes)
        if yes:
            far = f" ({self._phase.done} of {self._phase.total})" if self._phase.total else ""
            self._write(f"{self._phase.name}: {WAITING}{far}")

    def note(self, text: str) -> None:
        self._write(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._end()

    def _end(self) -> None:
        if self._phase.name:
            speed = self._phase.speed()
            took = f"{self._phase.name}: done in {duration(self._phase.seconds)}"
            self._write(f"{took}, {speed}" if speed else took)

    def _now_and_then(self) -> None:
        if time.monotonic() - self._told < LINE_SECONDS:
            return
        self._told = time.monotonic()
        phase = self._phase
        known = phase.done <= phase.total
        far = f"{phase.done} of {phase.total}" if known else f"{phase.done} done"
        words = [far, phase.speed(), phase.time_left()]
        self._write(f"{phase.name}: {', '.join(word for word in words if word)}")

    def _write(self, text: str) -> None:
        with suppress(BrokenPipeError):  # nobody watches any more: that is no reason to stop
            print(text, file=sys.stderr, flush=True)


class _Speed(TextColumn):
    """Cases a second and the time left, from the phase itself."""

    def __init__(self, watch: "Live") -> None:
        super().__init__("")
        self._watch = watch

    def render(self, task: Task) -> Text:
        phase = self._watch.current
        words = [phase.speed(), phase.time_left()]
        return Text("  ".join(word for word in words if word), style="dim")


class Live:
    """For terminals: one line that keeps up, and a line behind for each finished phase."""

    def __init__(self) -> None:
        console = err()
        bar = [BarColumn(bar_width=None)] if console.width >= NARROW else []
        self.current = Phase("starting", 0)
        self._bars = Progress(
            TextColumn("{task.description}"),
            *bar,
            MofNCompleteColumn(),
            _Speed(self),
            console=console,
            expand=console.width >= NARROW,
            transient=True,
            refresh_per_second=4,
        )
        self._task = self._bars.add_task("starting", total=None)

    def phase(self, name: str, total: int = 0) -> None:
        self._end()
        self.current = Phase(name, total)
        self._bars.reset(self._task, total=total or None, description=escape(name))

    def advance(self, amount: int = 1) -> None:
        self.current.done += amount
        self._bars.advance(self._task, amount)

    def cases(self, amount: int = 1) -> None:
        self.current.played += amount

    def waiting(self, yes: bool) -> None:
        self.current.waiting(yes)
        name = f"{self.current.name}: {WAITING}" if yes else self.current.name
        self._bars.update(self._task, description=escape(name))

    def note(self, text: str) -> None:
        self._bars.console.print(Text(text))

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()
        if kind is None:
            self._end()

    def _end(self) -> None:
        phase = self.current
        if phase.name != "starting":
            words = [duration(phase.seconds), phase.speed()]
            told = ", ".join(word for word in words if word)
            self._bars.console.print(
                Text.assemble(("✓ ", "green"), phase.name, (f"  {told}", "dim"))
            )


def watcher(quiet: bool) -> AbstractContextManager[Watch]:
    if quiet:
        return nullcontext(Silent())
    return Live() if sys.stderr.isatty() else Lines()
