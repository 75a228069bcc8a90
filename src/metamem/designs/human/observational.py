"""Dated notes on all that was said and done, written and condensed by a model, and the latest raw.

Observational memory as in Mastra (its documents report 94.87 % on LongMemEval with gpt-5-mini;
there is no paper). What happens is kept word for word until it has 30,000 tokens; then an observer
turns all but the last fifth into notes: one a line, by date, with a priority, statements told from
questions, changes with what they replace, what is done marked as done; besides, the current task
and a suggested response. When the notes have over 40,000 tokens, a reflector rewrites them. All of
that is as `Settings` has it, which a search may learn.

Stores: messages (or, where there are none, the steps of episodes) that no note covers yet, the
notes, the current task and the suggested response.
Retrieves: the same whatever is asked: the notes first, a beginning that stays as it is from one
observation to the next, then the latest raw lines, and at the end the task and the suggestion. To
stay within the host's budget (4,000 tokens: raise `budget` together with it) notes have 60 % of
it, important and late ones first, and raw lines what is left, the latest. Without a model there
are no notes, and the latest raw lines alone are told.
Forgets: raw lines once they are in the notes; what the reflector leaves out; raw lines beyond
300,000 tokens, the oldest. A step's observation is cut to 2,000 characters and an episode to
40,000, the middle first; messages are never cut, but long ones are read in pieces.

Guards: a line is cut at 10,000 characters; an answer that is empty, has no notes or goes round in
circles is not taken; the reflector is asked up to four times, each time to be briefer, until its
notes are below the threshold and shorter than before, but not next to nothing. Where all fail,
everything stays as it was, and the next try comes when a fifth of the threshold has been added.
Left out: work in the background (an update is not in a hurry), archives and raw id ranges. The
copy known as PAOM observes at every call, throws dates, task and suggestion away, and lets a
cut-off reflection replace everything.
"""

import json
import re
from dataclasses import dataclass

from metamem.designs import Experience, Memory, Query, Tools, text

NEEDS_MODEL = True
SETTINGS_DOMAIN = "observation"  # where better settings are learned, and promoted

_DATE = "Date: "
_LATEST = "Latest, word for word:"
_BULLET = re.compile(r"^\s*[-*]\s*\[(high|medium|low|done)\]", re.I)
_RANKS = {"high": 0, "done": 1, "medium": 1, "low": 2}
FIRST = ("high", "medium", "low", "none")

_OBSERVER = """You are the observer of an assistant: your notes will be all that it remembers.
From what was said and done, write one note a line, under the day or episode it belongs to:

Date: the day or episode as given
- [high] (time, if known) what was said or done, and by whom

Marks: [high] goals, what people state about themselves, decisions, what led to success or \
failure; [medium] details that may be asked for; [low] small things; [done] what is finished, and \
with what result."""
_APART = """Tell statements from questions: "Ann stated that she has two sons" is a fact and stands, \
"Ann asked how many" is none."""
_REPLACED = (
    """When something changes, say what it replaces: "Ann moved to Rome (replacing Oslo)"."""
)
_OTHER_TIME = """Where another time is meant ("last week"), add the date meant in brackets at the \
end of the note."""
_EXACT = "Keep names, numbers, places and unusual words exactly. "
_ONE_EVENT = "One event a note."
_TOGETHER = (
    "Actions of the same kind go into one note with what came of them. Repeat no earlier note."
)
_BRIEF = "Be brief: leave small things out, and write as few words as will do."
_FORM = """Answer in this form, each tag on a line of its own:
<observations>
the notes
</observations>"""
_NEXT_STEP = """
<current-task>
what is being worked on and what waits
</current-task>
<suggested-response>
what the assistant should say or do next
</suggested-response>"""


@dataclass(frozen=True)
class Settings:
    """What can be set: when observer and reflector are asked, what for, and what is told."""

    observe_at: int = 30_000  # tokens of raw lines
    kept_raw: float = 0.2  # of that stays raw
    reflect_at: int = 40_000  # tokens of notes
    levels: int = 4  # how often the reflector is asked, ever more briefly
    previous: int = 2_000  # tokens of the latest notes that the observer is shown
    budget: int = 4_000  # tokens that are told
    notes_share: float = 0.6  # of them for notes
    first: str = "high"  # the mark of the notes that are told first; none: the latest, whatever
    questions_apart: bool = True  # the observer is to tell statements from questions,
    say_replaced: bool = True  # to say what a change replaces,
    exact_words: bool = True  # to keep names and numbers as they are,
    brief: bool = False  # to be brief,
    next_step: bool = True  # and to name the current task and a response
    tail: int = 300  # tokens of what is told for these two

    def __post_init__(self) -> None:
        least = min(self.observe_at, self.reflect_at, self.levels, self.budget, self.tail)
        if least < 1 or self.previous < 0:
            raise ValueError("thresholds, levels and tokens must be above zero")
        if not (0.0 <= self.kept_raw < 1.0 and 0.0 <= self.notes_share <= 1.0):
            raise ValueError("what is kept raw and what notes have are shares")
        if self.first not in FIRST:
            raise ValueError(f"first is one of {', '.join(FIRST)}, not {self.first!r}")

    @property
    def observer(self) -> str:
        """What the observer is told of its work."""
        rules = (
            (self.questions_apart, _APART),
            (self.say_replaced, _REPLACED),
            (True, _OTHER_TIME),
            (True, _EXACT + _ONE_EVENT if self.exact_words else _ONE_EVENT),
            (True, _TOGETHER),
            (self.brief, _BRIEF),
        )
        told = "\n".join(f"- {rule}" for holds, rule in rules if holds)
        return f"{_OBSERVER}\n\n{told}\n\n{_FORM}" + (_NEXT_STEP if self.next_step else "")


SETTINGS = Settings()


@dataclass
class Entry:
    """Something said or done, word for word."""

    date: str
    line: str
    tokens: int
    size: int  # bytes, as they are sent


def note_lines(reply: str, longest: int, circles: float) -> list[str]:
    """The notes of a reply: none where it is empty, has no notes or goes round in circles.

    Where the tags are missing, only lines that look like notes are taken. A tag that is not closed
    means that the reply was cut off: that is no answer.
    """
    inside = text.tagged(reply, "observations")
    cut_off = not inside and "<observations>" in reply.lower()
    if cut_off or text.repetitive(reply, circles):
        return []
    lines = [line.rstrip()[:longest] for line in (inside or reply).splitlines() if line.strip()]
    if not inside:
        lines = [ln for ln in lines if _BULLET.match(ln) or ln.startswith(_DATE)]
    return lines if any(not line.startswith(_DATE) for line in lines) else []


class Observational(Memory):
    """Remembers dated notes that a model wrote, the latest raw lines, and the current task."""

    NEEDS_MODEL = NEEDS_MODEL  # named here, it goes along into designs made of this one
    LEAST = 0.02  # of the notes that a reflection must keep to be believed
    REFLECTED = 60_000  # tokens of notes that the reflector reads at most: the oldest
    ATTEMPTS = 2  # of the observer on the same lines
    OBSERVER_CALLS = 12  # in one update
    PAUSE = 0.2  # of a threshold, to be added after a failure before the next try
    LONGEST = 10_000  # characters of a note
    CIRCLES = 0.6  # share of repeated runs of words from which an answer goes round in circles
    PIECE = 20_000  # characters of a message that are one raw line
    EACH, ALL = 2_000, 40_000  # characters of a step's observation, and of an episode
    RAW_MOST = 300_000  # tokens of raw lines
    REQUEST = 800_000  # bytes of one prompt

    REFLECTOR = """You are the reflector of an assistant: you rewrite its notes, and your version \
will be all that it remembers. What you leave out is forgotten.

Keep the form: lines `Date: ...`, and under each the notes with their marks [high], [medium], \
[low] and [done]. Put together what belongs together, draw conclusions, drop what was replaced \
later. Keep dates, names, numbers and what is done. Statements stand against questions. Condense \
what is old more than what is new.

Answer with the notes between <observations> and </observations>."""
    GUIDANCE = (
        "",
        "Your last version was too long. Condense the older half more, at about 8/10 of the detail.",
        "Still too long. Condense much more, at about 6/10 of the detail; merge all that overlaps.",
        "Still too long. Sum up the oldest two thirds in a few lines; of the rest keep outcomes, "
        "names, dates and decisions only, at about 4/10 of the detail.",
    )

    def __init__(self, tools: Tools, settings: Settings = SETTINGS) -> None:
        super().__init__(tools)
        self.settings = settings
        self.raw: list[Entry] = []
        self.notes: list[str] = []
        self.task = ""
        self.suggestion = ""
        self.episodes = 0
        self.pause = 0.0  # tokens of raw lines to come before the observer is asked again
        self.reflect_at = float(self.settings.reflect_at)  # raised for a while after a failure

    # --- update ---

    async def update(self, experience: Experience) -> None:
        new = self._entries(experience)
        self.raw += new
        self.pause -= sum(entry.tokens for entry in new)
        self._drop_oldest()
        if self._raw_tokens() >= self.settings.observe_at and self.pause <= 0:
            await self._observe()
        if text.tokens("\n".join(self.notes)) > self.reflect_at:
            await self._reflect()

    def _entries(self, experience: Experience) -> list[Entry]:
        if experience.messages:
            return [
                self._entry(message.time or "undated", f"{message.speaker}: {piece}")
                for message in experience.messages
                for piece in self._pieces(message.text)
            ]
        if not experience.steps:
            return []
        self.episodes += 1
        lines = text.transcript(experience, self.EACH, self.ALL)
        return [
            self._entry(f"episode {self.episodes}", piece)
            for line in re.split(r"\n(?=> )", lines)
            for piece in self._pieces(line)
        ]

    def _pieces(self, words: str) -> list[str]:
        return [words[at : at + self.PIECE] for at in range(0, max(1, len(words)), self.PIECE)]

    def _entry(self, date: str, line: str) -> Entry:
        return Entry(date, line, text.tokens(line), len(json.dumps(line)))

    def _raw_tokens(self) -> int:
        return sum(entry.tokens for entry in self.raw)

    def _drop_oldest(self) -> None:
        spare = self._raw_tokens() - self.RAW_MOST
        dropped = 0
        while spare > 0:
            spare -= self.raw[dropped].tokens
            dropped += 1
        if dropped:
            self.tools.log(f"{dropped} raw lines that were never noted are forgotten")
            self.raw = self.raw[dropped:]

    async def _observe(self) -> None:
        """Turn raw lines into notes, the oldest first, until a fifth of the threshold is left."""
        calls = self.OBSERVER_CALLS
        while calls > 0 and (chunk := self._chunk()):
            for _ in range(min(self.ATTEMPTS, calls)):
                calls -= 1
                if await self._note(chunk):
                    self.raw = self.raw[len(chunk) :]
                    break
            else:
                self.pause = self.PAUSE * self.settings.observe_at
                self.tools.log("no usable notes: the raw lines stay")
                return

    def _chunk(self) -> list[Entry]:
        """The oldest raw lines that go into one prompt, and may go without leaving too few."""
        left = self._raw_tokens()
        tokens = size = 0
        chunk: list[Entry] = []
        for entry in self.raw:
            tokens, size = tokens + entry.tokens, size + entry.size
            too_much = tokens > self.settings.observe_at or size > self.REQUEST
            if left <= self.settings.kept_raw * self.settings.observe_at or (chunk and too_much):
                break
            left -= entry.tokens
            chunk.append(entry)
        return chunk

    async def _note(self, chunk: list[Entry]) -> bool:
        earlier = text.cap("\n".join(reversed(self.notes)), self.settings.previous).split("\n")
        prompt = (
            f"The latest notes so far:\n{chr(10).join(reversed(earlier)) or '(none)'}\n\n"
            f"The task so far: {self.task or '(none)'}\n\n"
            f"What was said and done since:\n<lines>\n{_dated(chunk)}\n</lines>"
        )
        reply = await text.ask(self.tools, prompt, system=self.settings.observer)
        if not isinstance(reply, str):
            return False
        lines = note_lines(reply, self.LONGEST, self.CIRCLES)
        if not lines:
            return False
        if not lines[0].startswith(_DATE):
            lines = [_DATE + chunk[0].date, *lines]
        dates = [line for line in self.notes if line.startswith(_DATE)]
        self.notes += lines[1:] if dates and dates[-1] == lines[0] else lines
        self.task = text.tagged(reply, "current-task") or self.task
        self.suggestion = text.tagged(reply, "suggested-response") or self.suggestion
        return True

    async def _reflect(self) -> None:
        """Have the notes rewritten; they stay where no version is good enough."""
        head = self._oldest_notes()
        before = "\n".join(head)
        for guidance in self.GUIDANCE[: self.settings.levels]:
            prompt = f"The notes:\n<notes>\n{before}\n</notes>\n\n{guidance}".strip()
            reply = await text.ask(self.tools, prompt, system=self.REFLECTOR)
            whole = isinstance(reply, str) and text.tagged(reply, "observations")
            lines = note_lines(reply, self.LONGEST, self.CIRCLES) if whole else []
            old, new = text.tokens(before), text.tokens("\n".join(lines))
            if lines and self.LEAST * old <= new < min(self.settings.reflect_at, old):
                self.notes = [*lines, *self.notes[len(head) :]]
                self.reflect_at = float(self.settings.reflect_at)
                return
        self.reflect_at = text.tokens("\n".join(self.notes)) + self.PAUSE * self.settings.reflect_at
        self.tools.log("no usable reflection: the notes stay")

    def _oldest_notes(self) -> list[str]:
        """As many of the oldest notes as one prompt holds."""
        tokens = size = 0
        for n, line in enumerate(self.notes):
            tokens, size = tokens + text.tokens(line), size + len(json.dumps(line))
            if n and (tokens > self.REFLECTED or size > self.REQUEST):
                return self.notes[:n]
        return self.notes

    # --- retrieve ---

    async def retrieve(self, query: Query) -> str:
        notes, tail = self._told_notes(), self._tail()
        spare = self.settings.budget - text.tokens(notes) - text.tokens(tail) - text.tokens(_LATEST)
        recent: list[Entry] = []
        for entry in reversed(self.raw):
            spare -= entry.tokens + text.tokens(_DATE + entry.date)
            if spare < 0:
                break
            recent.insert(0, entry)
        latest = f"{_LATEST}\n{_dated(recent)}" if recent else ""
        return "\n\n".join(part for part in (notes, latest, tail) if part)

    def _told_notes(self) -> str:
        """The notes, in their order; where they are too many, the important and late ones."""
        spare = self.settings.notes_share * self.settings.budget
        kept: set[int] = set()
        by_worth = sorted(range(len(self.notes)), key=lambda n: (self._rank(self.notes[n]), -n))
        date_of: dict[int, int] = {}
        latest = -1
        for n, line in enumerate(self.notes):
            latest = n if line.startswith(_DATE) else latest
            date_of[n] = latest
        for n in by_worth:
            if self.notes[n].startswith(_DATE):
                continue  # a date comes along with its notes
            with_date = {n, date_of[n]} - kept - {-1}
            spare -= sum(text.tokens(self.notes[m]) for m in with_date)
            if spare < 0:
                break
            kept |= with_date
        lines = [self.notes[n] for n in sorted(kept)]
        return "Notes on what was said and done:\n" + "\n".join(lines) if lines else ""

    def _rank(self, note: str) -> int:
        """What is told before what: the lower comes first."""
        mark = _BULLET.match(note)
        rank = _RANKS[mark.group(1).lower()] if mark else _RANKS["medium"]
        if self.settings.first == "none":
            return 0
        return -1 if rank == _RANKS[self.settings.first] else rank

    def _tail(self) -> str:
        lines = []
        if self.task:
            lines.append(f"Current task: {self.task}")
        if self.suggestion:
            lines.append(f"Suggested next: {self.suggestion}")
        return text.cap("\n".join(lines), self.settings.tail) if lines else ""


def _dated(entries: list[Entry]) -> str:
    """Raw lines under their dates."""
    lines: list[str] = []
    date = None
    for entry in entries:
        if entry.date != date:
            date = entry.date
            lines.append(_DATE + date)
        lines.append(entry.line)
    return "\n".join(lines)
