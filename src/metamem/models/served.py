"""What every model behind a server has in common, whatever its format."""

from collections.abc import Mapping

from metamem.core.chat import Usage
from metamem.models.keys import Key, address
from metamem.models.prices import price_of
from metamem.models.spec import ModelOptions, ModelSpec
from metamem.models.wire import MAX_REPLY, Wire


def bearer(key: Key) -> dict[str, str]:
    """The key as most servers want it; nothing where there is none."""
    return {"Authorization": f"Bearer {key.reveal()}"} if key.reveal() else {}


class Served:
    """One model of one server: its name, its settings, its price and the way to it."""

    def __init__(
        self,
        spec: ModelSpec,
        options: ModelOptions,
        key: Key,
        *,
        headers: Mapping[str, str],
        window: int,
        max_reply: int = MAX_REPLY,
    ) -> None:
        self._spec, self._options = spec, options
        self._window = options.window or window
        self._wire = Wire(address(spec), headers, key, options.seconds, max_reply)

    @property
    def name(self) -> str:
        return str(self._spec)

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
        await self._wire.close()
