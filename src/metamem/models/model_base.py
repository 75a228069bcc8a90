"""What most models have in common, wherever their answers come from."""

from metamem.core.chat import Usage
from metamem.models.prices import price_of
from metamem.models.spec import ModelOptions, ModelSpec


class ModelBase:
    """All of a `LanguageModel` but `complete`, as its name and its options have it."""

    def __init__(self, spec: ModelSpec, options: ModelOptions, *, window: int) -> None:
        """`window` is what it takes unless the options say otherwise."""
        self._spec, self._options = spec, options
        self._window = options.window or window

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def fingerprint(self) -> str:
        return self.name

    @property
    def window(self) -> int:
        return self._window

    @property
    def at_once(self) -> int:
        return self._options.at_once

    @property
    def seconds(self) -> float:
        return self._options.seconds

    def price(self, usage: Usage) -> float | None:
        return price_of(usage, self._spec, self._options.price)

    async def close(self) -> None:
        pass
