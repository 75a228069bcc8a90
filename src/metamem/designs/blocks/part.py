"""The plumbing that every layer of a recombined design shares; the slots are filled by blocks.

`Row` and `Part` are copied into each child, without the empty slots, so that a child stands
alone. The slots, in the order they act:

update:    admit, trim, keep, form, forget
retrieve:  ask, match (through key), prefer, adapt, phrase
"""

from collections import Counter
from dataclasses import dataclass

from metamem.designs import Experience, Layer, Query, Step, Tools, text


@dataclass
class Row:
    """One value on the store and how it came there."""

    about: str
    value: str
    count: int = 0  # times it was kept
    reward: float = 0.0  # of the episodes it was kept from, summed
    last: int = 0  # the episode it was kept from last
    told: int = 0  # times it was told


class Part(Layer):
    """A store of values, each under what it is about; the methods of a layer decide the rest."""

    TOP = 3  # values told for each thing asked
    BUDGET = 500  # tokens

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.store: dict[str, dict[str, Row]] = {}
        self.filed: Counter[str] = Counter()  # word: what values are about that has it
        self.values: Counter[str] = Counter()  # times each value was kept, whatever it was about
        self.things: set[str] = set()  # words that actions were about
        self.indexed: set[tuple[str, str]] = set()
        self.known: dict[str, str] = {}  # about: key, since the last update
        self.episodes = 0

    async def update(self, experience: Experience) -> None:
        self.episodes += 1
        self.known = {}
        self.key_notice(experience.actions)
        for step in experience.steps:
            self.key_notice(step.actions)
        if self.admit(experience):
            steps = self.trim(list(experience.steps), experience.goal)
            for about, kept in self.keep(experience, steps):
                value = self.form(kept)
                if about and value:
                    self.put(about, value, experience.reward)
            self.forget()
        await self.match_prepare()

    def put(self, about: str, value: str, reward: float) -> None:
        if about not in self.store:
            self.filed.update(text.content_words(about))
        row = self.store.setdefault(about, {}).setdefault(value, Row(about, value))
        row.count += 1
        row.reward += reward
        row.last = self.episodes
        self.values[value] += 1

    async def retrieve(self, query: Query, told: str = "") -> str:
        found: list[tuple[str, list[str]]] = []
        for asked in dict.fromkeys(self.ask(query, told)):
            ranked = sorted(
                await self.match(asked), key=lambda hit: self.prefer(*hit), reverse=True
            )
            values: list[str] = []
            for row, _ in ranked:
                value = self.adapt(row.value, row, query)
                if value and value not in values:
                    values.append(value)
                    row.told += 1
                if len(values) == self.TOP:
                    break
            if values:
                found.append((asked, values))
        return text.cap(self.phrase(found), self.BUDGET) if found else ""

    def keys(self) -> dict[str, str]:
        if not self.known:
            self.known = {about: self.key(about) for about in self.store}
        return self.known

    def rows(self) -> list[Row]:
        return [row for values in self.store.values() for row in values.values()]

    def drop(self, row: Row) -> None:
        del self.store[row.about][row.value]
        if not self.store[row.about]:
            del self.store[row.about]
            self.filed.subtract(text.content_words(row.about))

    def key_notice(self, actions: tuple[str, ...]) -> None:
        """For keys that learn from which actions there are."""

    async def match_prepare(self) -> None:
        """For matches that index what is kept."""

    # --- the slots ------------------------------------------------------------------------

    def admit(self, experience: Experience) -> bool:
        """Whether anything is kept of this episode."""
        raise NotImplementedError

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        """Which steps of the episode count."""
        raise NotImplementedError

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        """What is kept, as pairs of what it is about and the value."""
        raise NotImplementedError

    def form(self, value: str) -> str:
        """The form in which a value is kept; equal forms are one row."""
        raise NotImplementedError

    def forget(self) -> None:
        """What leaves the store."""
        raise NotImplementedError

    def ask(self, query: Query, told: str) -> list[str]:
        """What to look for; `told` is what earlier parts have said."""
        raise NotImplementedError

    def key(self, about: str) -> str:
        """What is compared, of what is asked and of what values are about."""
        raise NotImplementedError

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        """The rows that answer, each with how well it does."""
        raise NotImplementedError

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        """Which rows come first: the larger, the earlier."""
        raise NotImplementedError

    def adapt(self, value: str, row: Row, query: Query) -> str:
        """The value as it is told for this query; empty: not at all."""
        raise NotImplementedError

    def phrase(self, found: list[tuple[str, list[str]]]) -> str:
        """The words of the advice, from what was asked and the values found for it."""
        raise NotImplementedError
