"""compose: how two blocks share one slot. The two are copied in as `<slot>_first` and
`<slot>_second`; each class here is the method that calls them.
"""

from metamem.designs import Experience, Query, Step
from metamem.designs.blocks.listener import Heard, Listener
from metamem.designs.blocks.part import Part, Row
from metamem.designs.blocks.thinker import Thinker


class BothAdmit(Part):
    """both must agree"""

    def admit_first(self, experience: Experience) -> bool:
        raise NotImplementedError

    def admit_second(self, experience: Experience) -> bool:
        raise NotImplementedError

    def admit(self, experience: Experience) -> bool:
        return self.admit_first(experience) and self.admit_second(experience)


class TrimTwice(Part):
    """one after the other"""

    def trim_first(self, steps: list[Step], goal: str) -> list[Step]:
        raise NotImplementedError

    def trim_second(self, steps: list[Step], goal: str) -> list[Step]:
        raise NotImplementedError

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        return self.trim_second(self.trim_first(steps, goal), goal)


class KeepBoth(Part):
    """both are kept"""

    def keep_first(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        raise NotImplementedError

    def keep_second(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        raise NotImplementedError

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        return [*self.keep_first(experience, steps), *self.keep_second(experience, steps)]


class FormTwice(Part):
    """one after the other"""

    def form_first(self, value: str) -> str:
        raise NotImplementedError

    def form_second(self, value: str) -> str:
        raise NotImplementedError

    def form(self, value: str) -> str:
        return self.form_second(self.form_first(value))


class AskBoth(Part):
    """both are asked"""

    def ask_first(self, query: Query, told: str) -> list[str]:
        raise NotImplementedError

    def ask_second(self, query: Query, told: str) -> list[str]:
        raise NotImplementedError

    def ask(self, query: Query, told: str) -> list[str]:
        return [*self.ask_first(query, told), *self.ask_second(query, told)]


class KeyTwice(Part):
    """one after the other"""

    def key_first(self, about: str) -> str:
        raise NotImplementedError

    def key_second(self, about: str) -> str:
        raise NotImplementedError

    def key(self, about: str) -> str:
        return self.key_second(self.key_first(about))


class BackOff(Part):
    """the second where the first finds nothing"""

    async def match_first(self, asked: str) -> list[tuple[Row, float]]:
        raise NotImplementedError

    async def match_second(self, asked: str) -> list[tuple[Row, float]]:
        raise NotImplementedError

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        return await self.match_first(asked) or await self.match_second(asked)


class TieBreak(Part):
    """the second where the first sees no difference"""

    def prefer_first(self, row: Row, score: float) -> tuple[float, ...]:
        raise NotImplementedError

    def prefer_second(self, row: Row, score: float) -> tuple[float, ...]:
        raise NotImplementedError

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        return self.prefer_first(row, score) + self.prefer_second(row, score)


class AdaptTwice(Part):
    """one after the other"""

    def adapt_first(self, value: str, row: Row, query: Query) -> str:
        raise NotImplementedError

    def adapt_second(self, value: str, row: Row, query: Query) -> str:
        raise NotImplementedError

    def adapt(self, value: str, row: Row, query: Query) -> str:
        return self.adapt_second(self.adapt_first(value, row, query), row, query)


class ForgetBoth(Part):
    """both forget"""

    def forget_first(self) -> None:
        raise NotImplementedError

    def forget_second(self) -> None:
        raise NotImplementedError

    def forget(self) -> None:
        self.forget_first()
        self.forget_second()


class FitTwice(Thinker):
    """one after the other"""

    def fit_first(self, way: list[str], query: Query) -> list[str]:
        raise NotImplementedError

    def fit_second(self, way: list[str], query: Query) -> list[str]:
        raise NotImplementedError

    def fit(self, way: list[str], query: Query) -> list[str]:
        return self.fit_second(self.fit_first(way, query), query)


class NarrowerFirst(Thinker):
    """both sorts, the first of them first"""

    def whose_first(self, goal: str, observation: str) -> list[str]:
        raise NotImplementedError

    def whose_second(self, goal: str, observation: str) -> list[str]:
        raise NotImplementedError

    def whose(self, goal: str, observation: str) -> list[str]:
        sorts = [*self.whose_first(goal, observation), *self.whose_second(goal, observation)]
        return [*dict.fromkeys(sort for sort in sorts if sort != "all"), "all"]


class HeedBoth(Listener):
    """both must agree"""

    def heed_first(self, heard: Heard, query: Query) -> bool:
        raise NotImplementedError

    def heed_second(self, heard: Heard, query: Query) -> bool:
        raise NotImplementedError

    def heed(self, heard: Heard, query: Query) -> bool:
        return self.heed_first(heard, query) and self.heed_second(heard, query)


class SettleTwice(Listener):
    """one after the other"""

    def settle_first(
        self, found: list[tuple[float, Heard]], query: Query
    ) -> list[tuple[float, Heard]]:
        raise NotImplementedError

    def settle_second(
        self, found: list[tuple[float, Heard]], query: Query
    ) -> list[tuple[float, Heard]]:
        raise NotImplementedError

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        return self.settle_second(self.settle_first(found, query), query)
