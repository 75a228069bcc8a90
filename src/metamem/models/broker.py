"""Between whoever asks and the models: records, replays, and repairs.

Every question has a key made of the model, the question and its place (design, case, repeat,
ordinal). A reply that is on record is given again at no cost; equal questions of different places
stay independent draws. What embeds texts is asked by the same broker, out of the same budget.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from metamem.core.aside import aside
from metamem.core.calls import CallRecord
from metamem.core.chat import Question, Reply, Site, Turn, Usage
from metamem.core.errors import ModelRefused, ModelUnavailable
from metamem.models.allowance import Allowance
from metamem.models.base import LanguageModel
from metamem.models.embed_broker import EmbedBroker
from metamem.models.embedding import EmbeddingModel, Rows
from metamem.models.sending import ATTEMPTS as ATTEMPTS
from metamem.models.sending import FIRST_PAUSE, Answered, CallLog, Errand, Sender
from metamem.models.structured import Misfit, check_schema, fit

REPAIRS = 2  # of a reply that does not fit its schema
_TURN_TOKENS = 16  # what a turn costs beyond its text, at most


class Broker:
    """Asks the models of each role. One per run and process; belongs to one event loop."""

    def __init__(
        self,
        log: CallLog,
        models: Mapping[str, Sequence[LanguageModel]],
        *,
        run_id: str = "",
        allowance: Allowance | None = None,
        pause: float = FIRST_PAUSE,
        embedding: EmbeddingModel | None = None,
    ) -> None:
        self._log, self._models = log, models
        self._sender = Sender(log, run_id, allowance or Allowance(), pause)
        self._embedder = EmbedBroker(log, self._sender, embedding) if embedding else None
        self.purse, self.counts = self._sender.purse, self._sender.counts
        self.lost = self._sender.lost  # with a process that was killed
        self._under_way: dict[str, asyncio.Task[CallRecord]] = {}
        self.roles_asked: set[str] = set()  # by this process, replies on record included

    @property
    def fingerprints(self) -> dict[str, str]:
        """By role, for the fingerprint of evaluations."""
        return {
            role: " + ".join(model.fingerprint for model in several)
            for role, several in self._models.items()
        }

    def models(self, role: str) -> Sequence[LanguageModel]:
        return self._models.get(role, ())

    async def ask(self, site: Site, question: Question) -> Reply:
        """The reply, repaired where it does not fit its schema, or `ModelRefused`."""
        model = self._model(site)
        if question.schema is not None:
            check_schema(question.schema)
        self.counts.asked += 1
        self.roles_asked.add(site.role)
        used, problem = Usage(), ""
        for _ in range(REPAIRS + 1):
            call = await self._answer(model, site, question)
            used += call.usage
            if not call.reply.strip():
                raise ModelRefused(f"{model.name} gave an empty reply", tokens=used.total)
            if question.schema is None:
                return Reply(call.reply, usage=used)
            try:
                return Reply(call.reply, fit(call.reply, question.schema), used)
            except Misfit as error:
                problem = str(error)
                question = _again(question, call.reply, problem)
        raise ModelRefused(
            f"{model.name} gave no JSON that fits the schema: {problem}", tokens=used.total
        )

    async def embed(self, texts: Sequence[str], design: str = "") -> Rows:
        """A unit row for each text, by the model of the role `embed`."""
        if self._embedder is None:
            raise ModelUnavailable(
                "no server of embeddings is configured",
                hint="give --model embed=openai:NAME; `metamem models` tells which there are",
            )
        return await self._embedder.embed(texts, design)

    async def close(self) -> None:
        for task in self._under_way.values():
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        for several in self._models.values():
            for model in several:
                await model.close()
        if self._embedder is not None:
            await self._embedder.close()

    def _model(self, site: Site) -> LanguageModel:
        several = self._models.get(site.role, ())
        if not several:
            raise ModelUnavailable(
                f"no model is configured for the role {site.role!r}",
                hint=f"give --model {site.role}=NAME; `metamem models` tells which there are",
            )
        if not site.model:
            return several[0]
        return next(model for model in several if model.name == site.model)

    async def _answer(self, model: LanguageModel, site: Site, question: Question) -> CallRecord:
        """One reply: from the record, from whoever asks the same just now, or from the model."""
        key = site.key(model.fingerprint, question)
        if key not in self._under_way:
            recorded = await aside(self._log.call, key)
            if recorded is not None:
                self.counts.replayed += 1
                return recorded
        # Asked again: another may have begun meanwhile. It cannot have ended, since what it enters
        # comes after this look at the record.
        if key not in self._under_way:
            task = asyncio.create_task(self._fetch(key, model, site, question))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(self._under_way[key])

    async def _fetch(
        self, key: str, model: LanguageModel, site: Site, question: Question
    ) -> CallRecord:
        turns = tuple((turn.speaker, turn.text) for turn in question.turns)
        blank = CallRecord(key, site.role, model.fingerprint, site.design, site.task, turns, "")
        errand = Errand(key, site.role, site.design, site.task, _worst(question))

        async def once(last: bool) -> Answered[CallRecord]:
            completion = await model.complete(question)
            call = replace(blank, reply=completion.text, usage=completion.usage)
            empty = not completion.text.strip() and not last  # the last is taken as it is
            problem = "it gave an empty reply" if empty else ""
            return Answered(call, completion.usage, call, problem)

        return await self._sender.send(errand, model, once)


def _worst(question: Question) -> Usage:
    """The most that a call can cost: a token is at least one byte of text."""
    texts = sum(len(t.text.encode("utf-8", "surrogatepass")) + _TURN_TOKENS for t in question.turns)
    schema = len(repr(question.schema)) if question.schema is not None else 0
    return Usage(input=texts + 2 * schema, output=question.max_tokens)


def _again(question: Question, said: str, problem: str) -> Question:
    wish = (
        f"That does not fit what was asked for: {problem}\nAnswer again with JSON alone that fits."
    )
    turns = (*question.turns, Turn("assistant", said), Turn("user", wish))
    return replace(question, turns=turns)
