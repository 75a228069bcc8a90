"""Between designs and a model that embeds: every text is paid for once, and for all designs.

A vector's name is made of the model and the text, and of nothing else: equal texts are no
independent draws, so a vector on record serves every run and design of the archive.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from metamem.core.aside import aside
from metamem.core.chat import Usage
from metamem.core.errors import StoreError
from metamem.core.ids import content_id
from metamem.models.embedding import Embedded, EmbeddingModel, Rows, WrongVectors, checked
from metamem.models.sending import Answered, CallLog, Errand, Sender

ROLE = "embed"
BATCH_TEXTS, BATCH_BYTES = 128, 250_000  # in one sending; servers limit both
_TEXT_TOKENS = 16  # what a text costs beyond its bytes, at most
_PROBE = "metamem"  # embedded before anything else: its length is the length of all vectors
_STORED = np.dtype("<f4")

Found = dict[str, Rows]  # vectors by key


class EmbedBroker:
    """Embeds with one model. One per run and process; belongs to one event loop."""

    def __init__(self, log: CallLog, sender: Sender, model: EmbeddingModel) -> None:
        self._log, self._sender, self._model = log, sender, model
        self._under_way: dict[str, asyncio.Task[Found]] = {}
        self._width = 0  # not known yet

    async def embed(self, texts: Sequence[str], design: str = "") -> Rows:
        """A unit row for each text; one of nothing but space gives the zero row."""
        kept = [_cut(text, self._model.window) for text in texts]
        wanted = {self._key(text): text for text in (_PROBE, *kept) if text}
        found = await self._find(wanted, design)
        width = len(found[self._key(_PROBE)])
        rows = np.zeros((len(kept), width), dtype=np.float32)
        for row, text in zip(rows, kept, strict=True):
            if text:
                row[:] = found[self._key(text)]
        return rows

    async def close(self) -> None:
        tasks = set(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._model.close()

    def _key(self, text: str) -> str:
        return content_id("vector", self._model.fingerprint, text)

    async def _find(self, wanted: dict[str, str], design: str) -> Found:
        """From the record, from whoever asks for the same just now, or from the model."""
        counts = self._sender.counts
        counts.asked += len(wanted)
        found = await aside(self._all_recorded, wanted)
        counts.replayed += len(found)
        missing = {key: text for key, text in wanted.items() if key not in found}
        new = {key: text for key, text in missing.items() if key not in self._under_way}
        for batch in batches(new):
            task = asyncio.create_task(self._fetch(batch, design))
            self._under_way |= dict.fromkeys(batch, task)
            task.add_done_callback(partial(self._arrived, tuple(batch)))
        tasks = dict.fromkeys(self._under_way[key] for key in missing)
        for arrived in await asyncio.gather(*map(asyncio.shield, tasks)):
            found |= arrived
        return found

    def _arrived(self, keys: tuple[str, ...], task: asyncio.Task[Found]) -> None:
        for key in keys:
            del self._under_way[key]

    async def _fetch(self, batch: dict[str, str], design: str) -> Found:
        texts = list(batch.values())
        worst = Usage(input=sum(map(worst_tokens, texts)))
        errand = Errand(content_id("vectors", list(batch)), ROLE, design, "", worst)

        async def once(last: bool) -> Answered[Found]:
            answer = await self._model.embed(texts)
            try:
                rows = self._checked(answer, len(texts))
            except WrongVectors as wrong:
                return Answered({}, answer.usage, problem=str(wrong))
            kept = await aside(self._keep, dict(zip(batch, rows, strict=True)))
            return Answered(kept, answer.usage)

        return await self._sender.send(errand, self._model, once)

    def _checked(self, answer: Embedded, count: int) -> Rows:
        rows = checked(answer, count)
        if self._width and rows.shape[1] != self._width:
            raise WrongVectors(f"it gave vectors of length {rows.shape[1]}, not {self._width}")
        self._width = rows.shape[1]
        return rows

    def _keep(self, rows: Found) -> Found:
        """Before the sending is entered as answered, so that what is paid for is never lost."""
        kept = {}
        for key, row in rows.items():
            try:
                self._log.put_blob(key, row.astype(_STORED).tobytes())
                kept[key] = row
            except StoreError:
                there = self._recorded(key)  # by another process, with slightly other numbers
                if there is None:
                    raise
                kept[key] = there
        return kept

    def _all_recorded(self, keys: Iterable[str]) -> Found:
        return {key: row for key in keys if (row := self._recorded(key)) is not None}

    def _recorded(self, key: str) -> Rows | None:
        content = self._log.blob(key)
        if content is None:
            return None
        row = np.frombuffer(content, dtype=_STORED)
        self._width = self._width or len(row)
        return row


def _cut(text: str, window: int) -> str:
    """What of a text is embedded: a token is at least one byte, so this always fits."""
    kept = text.encode("utf-8", "replace")[:window].decode("utf-8", "ignore")
    return kept if kept.strip() else ""  # servers refuse a text of nothing


def worst_tokens(text: str) -> int:
    """The most that a text can cost."""
    return len(text.encode()) + _TEXT_TOKENS


def batches(texts: dict[str, str]) -> Iterator[dict[str, str]]:
    """What is sent together: in order, within both bounds, a text over them alone."""
    batch: dict[str, str] = {}
    room = BATCH_BYTES
    for key, text in texts.items():
        if batch and (len(batch) == BATCH_TEXTS or room < worst_tokens(text)):
            yield batch
            batch, room = {}, BATCH_BYTES
        batch[key] = text
        room -= worst_tokens(text)
    if batch:
        yield batch
