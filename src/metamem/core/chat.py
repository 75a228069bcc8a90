"""Questions to language models and their replies, as small frozen types."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from metamem.core.ids import content_id

Role = Literal["meta", "agent", "memory"]
ROLES: tuple[Role, ...] = ("meta", "agent", "memory")  # who asks: proposers, agents, designs
Speaker = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation with a model."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """All that a model is asked in one call."""

    turns: tuple[Turn, ...]
    schema: Mapping[str, Any] | None = None  # the reply is to be JSON that fits
    choices: tuple[str, ...] = ()  # the reply is to be one of these; enforced where possible
    max_tokens: int = 1024  # of the reply, thoughts included
    temperature: float | None = None  # None: the model's own
    # Its one turn is running text, of which the reply is the next line. Models that only take
    # messages are sent it as one.
    running: bool = False

    @property
    def digest(self) -> str:
        turns = [(turn.speaker, turn.text) for turn in self.turns]
        how = (self.schema, self.choices, self.max_tokens, self.temperature)
        if self.running:  # younger than most recorded answers
            return content_id("question", turns, how, "running")
        return content_id("question", turns, how)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them. Cached ones are part of the input, thoughts of the output."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered. `value` is the JSON that fits the schema, where one was given."""

    text: str
    value: Any = None
    usage: Usage = field(default=Usage())


@dataclass(frozen=True, slots=True)
class Site:
    """Where a question comes from: it keeps equal questions of different cases apart."""

    role: Role
    model: str = ""  # which of the role's models; "": the first
    design: str = ""  # id of the design on whose behalf it is asked
    phase: str = ""  # collect | deploy | update | probe | propose
    task: str = ""
    repeat: int = 0
    seed: int = 0
    ordinal: int = 0  # its number among the questions of this place

    def key(self, model: str, question: Question) -> str:
        """The name under which the reply is recorded."""
        case = (self.role, self.design, self.phase, self.task)
        return content_id(
            "call", case, self.repeat, self.seed, self.ordinal, model, question.digest
        )


AskAt = Callable[[Site, Question], Awaitable[Reply]]
# A prompt, the JSON schema that the reply is to fit (or none), and a system message (or "").
AskModel = Callable[[str, dict[str, Any] | None, str], Awaitable[Any]]
