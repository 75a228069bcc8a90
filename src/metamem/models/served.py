"""What every model behind a server has in common, whatever its format."""

from collections.abc import Mapping

from metamem.models.keys import Key, address
from metamem.models.model_base import ModelBase
from metamem.models.spec import ModelOptions, ModelSpec
from metamem.models.wire import MAX_REPLY, Wire


def bearer(key: Key) -> dict[str, str]:
    """The key as most servers want it; nothing where there is none."""
    return {"Authorization": f"Bearer {key.reveal()}"} if key.reveal() else {}


class Served(ModelBase):
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
        super().__init__(spec, options, window=window)
        self._wire = Wire(address(spec), headers, key, options.seconds, max_reply)

    async def close(self) -> None:
        await self._wire.close()
