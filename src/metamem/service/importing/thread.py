"""The lines of one session in their order, while a reader goes through its records.

Only ids are carried from one look to the next: what was said must not reach the disk from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metamem.service.importing.transcript import Call, Line, Transcript, given_back
from metamem.service.writing.fields import kept_path


@dataclass(slots=True)
class Thread:
    """What is known of a session: the order of its lines, and all that is new."""

    host: str
    session: str = ""
    folder: str = ""
    title: str = ""
    parent: str = ""
    started_at: int | None = None
    ended_at: int | None = None
    compactions: int = 0
    kept: list[tuple[str, bool]] = field(default_factory=list)  # ids; whether the user said it
    _places: dict[str, int] = field(default_factory=dict)
    _lines: dict[str, Line] = field(default_factory=dict)  # new in this look
    _aside: list[Line] = field(default_factory=list)  # of sub-agents
    _calls: dict[str, Call] = field(default_factory=dict)
    _rewound: list[str] = field(default_factory=list)

    @property
    def prompt(self) -> str:
        """The last line of the user."""
        return next((line for line, is_user in reversed(self.kept) if is_user), "")

    def seen(self, at: int | None) -> None:
        if at is None:
            return
        self.started_at = at if self.started_at is None else min(at, self.started_at)
        self.ended_at = at if self.ended_at is None else max(at, self.ended_at)

    def say(self, line: Line) -> None:
        """Add a line. One that is there already is given its newest words."""
        self.seen(line.at)
        if not line.text:
            return
        if line.agent:
            self._aside.append(line)
            return
        if line.id not in self._places:
            self._places[line.id] = len(self.kept)
            self.kept.append((line.id, line.speaker == "user"))
        self._lines[line.id] = line

    def call(self, call: Call) -> None:
        self.seen(call.at)
        if call.result:
            call = replace(call, result=given_back(call.result), error=given_back(call.error))
        known = self._calls.get(call.id)
        self._calls[call.id] = known.joined(call) if known else call

    def began(self, call: str) -> int | None:
        """When a call of this look began."""
        return self._calls[call].at if call in self._calls else None

    def cut(self, length: int) -> None:
        """Only so many of the lines stand; the user took the others back."""
        gone = [line for line, _ in self.kept[length:]]
        del self.kept[length:]
        for line in gone:
            self._lines.pop(line, None)
            del self._places[line]
        lost = set(gone)
        self._calls = {i: call for i, call in self._calls.items() if call.prompt not in lost}
        self._rewound += gone

    def cut_prompts(self, count: int) -> None:
        """The last so many lines of the user, and what followed them, are taken back."""
        prompts = [n for n, (_, is_user) in enumerate(self.kept) if is_user]
        if count > 0 and prompts:
            self.cut(prompts[-count] if count <= len(prompts) else 0)

    def place(self, line: str) -> int | None:
        return self._places.get(line)

    def taken(self, damaged: int) -> Transcript:
        """What this look found."""
        return Transcript(
            self.host,
            self.session,
            self.folder,
            self.title,
            self.parent,
            (*self._lines.values(), *self._aside),
            tuple(self._calls.values()),
            tuple(self._rewound),
            self.started_at,
            self.ended_at,
            self.compactions,
            damaged,
        )

    def to_json(self) -> dict[str, Any]:
        """What the next look has to know."""
        return {
            "session": self.session,
            "folder": kept_path(self.folder),
            "parent": self.parent,
            "started_at": self.started_at,
            "kept": [[line, int(is_user)] for line, is_user in self.kept],
        }

    def resume(self, given: dict[str, Any]) -> None:
        for name in ("session", "folder", "parent", "started_at"):
            setattr(self, name, given[name])
        self.resume_order([(str(line), bool(is_user)) for line, is_user in given["kept"]])

    def resume_order(self, kept: Sequence[tuple[str, bool]]) -> None:
        self.kept = list(kept)
        self._places = {line: n for n, (line, _) in enumerate(self.kept)}
