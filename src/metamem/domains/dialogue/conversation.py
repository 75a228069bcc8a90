"""A conversation as data: dated sessions of lines, and questions with their evidence."""

from dataclasses import dataclass

KINDS = (
    "single",  # said once, or again in other words
    "updated",  # changed over time: the latest counts
    "corrected",  # said wrongly first
    "repeated",  # how often something happened
    "temporal",  # when something happened
    "multi",  # two facts are needed
    "open",  # needs knowledge of the world as well (LoCoMo only)
    "forgotten",  # the speaker asked to forget it: it must not be told
    "unknown",  # never said: nothing should be told
)


@dataclass(frozen=True, slots=True)
class Line:
    """One message. Its id is unique within the conversation."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    date: str  # as people write it: 7 May 2023
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that answers, and the phrases without which it would not."""

    line: str
    text: str
    must: tuple[str, ...] = ()
    prompt: str = ""  # the question that it was said in answer to


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, what a good reply holds, and what it must not hold."""

    id: str
    kind: str
    text: str
    date: str  # when it is asked
    evidence: tuple[
        tuple[Evidence, ...], ...
    ] = ()  # each group is needed; one line of it is enough
    answers: tuple[tuple[str, ...], ...] = ()  # any of these; all phrases of the one
    against: tuple[str, ...] = ()  # superseded, withdrawn, somebody else's or made up
    rivals: tuple[str, ...] = ()  # true of somebody else: no harm beside evidence, but no answer
    suffices: bool = True  # whether the evidence holds the answer by itself (a date it does not)

    @property
    def answerable(self) -> bool:
        return self.kind not in ("forgotten", "unknown")


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    speakers: tuple[str, str]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
