"""What a language model is to metamem, and how it may fail."""

from dataclasses import dataclass
from typing import Protocol

from metamem.core.chat import Question, Usage


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer, as the model gave it."""

    text: str
    usage: Usage


class Fault(Exception):
    """A call that brought no answer.

    `billed` is None where nobody can tell: the question went out and the answer never came.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = True,
        billed: bool | None = False,
        after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.retry, self.billed, self.after = message, retry, billed, after


class LanguageModel(Protocol):
    """One model behind one adapter. It sends once: retries, records and budgets are the broker's."""

    @property
    def name(self) -> str:
        """How people name it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names the model and whatever of its settings can change an answer."""
        ...

    @property
    def window(self) -> int:
        """Tokens of question and answer together."""
        ...

    @property
    def at_once(self) -> int:
        """How many questions it may be asked at the same time."""
        ...

    @property
    def seconds(self) -> float:
        """How long an answer may take."""
        ...

    def price(self, usage: Usage) -> float | None:
        """Dollars, or None where the price is not known."""
        ...

    async def complete(self, question: Question) -> Completion:
        """The answer, or a `Fault`."""
        ...

    async def close(self) -> None: ...
