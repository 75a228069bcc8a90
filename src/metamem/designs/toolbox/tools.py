"""`Tools`: all that a design gets from outside."""

import random
from collections.abc import Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from metamem.designs.toolbox.table import Table
from metamem.designs.toolbox.text_index import TextIndex

if TYPE_CHECKING:  # else loaded when first used: each costs every fork of a memory a millisecond
    import networkx
    import numpy as np
    from numpy.typing import NDArray

    from metamem.designs.toolbox.vectors import Vectors

_BATCH = 512  # texts in one question to the host
_REMEMBERED = 20_000  # embeddings kept in the jail, so that a text is asked for once


class HostLink(Protocol):
    """The way to the host. Snapshots leave it out; a restored memory gets a new one."""

    async def ask(self, tool: str, data: Any) -> Any: ...

    def log(self, message: str) -> None: ...


class LanguageModel:
    """The host's language model, if it has one."""

    def __init__(self, host: HostLink) -> None:
        self._host = host

    async def ask(
        self, prompt: str, schema: dict[str, Any] | None = None, *, system: str = ""
    ) -> Any:
        """The model's reply: text, or where a JSON schema is given, a value that fits it.

        Raises `RuntimeError` where no model is configured, or none gave an answer that will do:
        an empty one, or one that still does not fit the schema after another try.
        """
        if not isinstance(prompt, str) or not isinstance(system, str):
            raise TypeError("a prompt is text")
        question = {"prompt": prompt, "schema": schema, "system": system}
        return await self._host.ask("llm", question)


class Tools:
    """Everything a memory may use. Named parts are made when first asked for and then kept."""

    def __init__(self, host: HostLink, seed: int) -> None:
        self._host = host
        self._seen: dict[str, NDArray[np.float32]] = {}
        self._vectors: dict[str, Vectors] = {}
        self._graphs: dict[str, networkx.DiGraph[Any]] = {}
        self._tables: dict[str, Table] = {}
        self._indexes: dict[str, TextIndex] = {}
        self._apart: dict[str, Tools] = {}
        self.llm = LanguageModel(host)
        self.rng = random.Random(seed)

    def log(self, message: object) -> None:
        """A line for whoever reads this design's logs: people and proposers."""
        self._host.log(str(message))

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors as an array of shape (number of texts, dimensions)."""
        import numpy as np

        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError("embed() takes a list of texts")
        found = {text: self._seen[text] for text in texts if text in self._seen}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            found.update(zip(batch, await self._ask_embeddings(batch), strict=True))
        self._remember({text: found[text] for text in new})
        return (
            np.stack([found[text] for text in texts]) if texts else await self._ask_embeddings([])
        )

    def vectors(self, name: str = "") -> "Vectors":
        from metamem.designs.toolbox.vectors import Vectors

        if name not in self._vectors:
            self._vectors[name] = Vectors(self.embed)
        return self._vectors[name]

    def graph(self, name: str = "") -> "networkx.DiGraph[Any]":
        import networkx

        return self._graphs.setdefault(name, networkx.DiGraph())

    def table(self, name: str = "") -> Table:
        return self._tables.setdefault(name, Table())

    def text_index(self, name: str = "") -> TextIndex:
        return self._indexes.setdefault(name, TextIndex())

    def apart(self, name: str) -> "Tools":
        """The same with stores of its own: for a part that was written to stand alone, whose names for
        its stores others may have, too."""
        if name not in self._apart:
            self._apart[name] = other = copy(self)
            other._vectors, other._graphs, other._tables = {}, {}, {}
            other._indexes, other._apart = {}, {}
        return self._apart[name]

    async def flush(self) -> None:
        """Called by the host's side when an update ends: embed what waits, all in one go."""
        for vectors in self._vectors.values():
            await vectors.flush()
        for other in self._apart.values():
            await other.flush()

    async def _ask_embeddings(self, texts: list[str]) -> "NDArray[np.float32]":
        import base64

        import numpy as np

        reply = await self._host.ask("embed", {"texts": texts})
        flat = np.frombuffer(base64.b64decode(reply["vectors"]), dtype="<f4")
        return flat.reshape(len(texts), reply["dimensions"])

    def _remember(self, fresh: "dict[str, NDArray[np.float32]]") -> None:
        self._seen.update(fresh)
        for text in list(islice(self._seen, max(0, len(self._seen) - _REMEMBERED))):
            del self._seen[text]
