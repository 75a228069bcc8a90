"""Between whoever asks and the models: records, replays, retries, and keeps to the budget.

Every question has a key made of the model, the question and its place (design, case, repeat,
ordinal). A reply that is on record is given again at no cost; equal questions of different places
stay independent draws. A sending is entered in the log before it goes out, so a killed process
leaves no call unaccounted for.
"""

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from metamem.core.calls import AttemptEnd, AttemptOutcome, AttemptRecord, CallRecord, Spending
from metamem.core.chat import Question, Reply, Site, Turn, Usage
from metamem.core.errors import ModelFault, ModelRefused, ModelUnavailable
from metamem.models.base import Completion, Fault, LanguageModel
from metamem.models.budget import Allowance, Purse
from metamem.models.structured import Misfit, check_schema, fit

ATTEMPTS = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between attempts, doubling
REPAIRS = 2  # of a reply that does not fit its schema
_TURN_TOKENS = 16  # what a turn costs beyond its text, at most


class CallLog(Protocol):
    """Where calls are kept: the part of the archive that the broker uses."""

    def begin_attempt(self, attempt: AttemptRecord) -> int: ...

    def end_attempt(self, number: int, end: AttemptEnd, call: CallRecord | None = None) -> None: ...

    def call(self, key: str) -> CallRecord | None: ...

    def spending(self, run_id: str | None = None) -> list[Spending]: ...


@dataclass(slots=True)
class Counts:
    """What the broker did since it was made. Cheap to read, for progress and tests."""

    asked: int = 0
    replayed: int = 0
    sent: int = 0
    retried: int = 0


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
    ) -> None:
        self._log, self._models, self._run_id, self._pause = log, models, run_id, pause
        before = log.spending(run_id) if run_id else []
        self.lost = sum(spent.in_flight for spent in before)  # with a process that was killed
        self.purse = Purse(
            allowance or Allowance(),
            tokens=sum(spent.usage.total + spent.reserved for spent in before),
            money=sum(spent.money for spent in before),
        )
        self.counts = Counts()
        self._rooms = {
            model.fingerprint: asyncio.Semaphore(model.at_once)
            for several in models.values()
            for model in several
        }
        self._under_way: dict[str, asyncio.Task[CallRecord]] = {}

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

    async def close(self) -> None:
        for task in self._under_way.values():
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        for several in self._models.values():
            for model in several:
                await model.close()

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
        recorded = self._log.call(key)
        if recorded is not None:
            self.counts.replayed += 1
            return recorded
        if key not in self._under_way:
            task = asyncio.create_task(self._fetch(key, model, site, question))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(self._under_way[key])

    async def _fetch(
        self, key: str, model: LanguageModel, site: Site, question: Question
    ) -> CallRecord:
        """Send until an answer comes, a bounded number of times."""
        turns = tuple((turn.speaker, turn.text) for turn in question.turns)
        blank = CallRecord(key, site.role, model.fingerprint, site.design, site.task, turns, "")
        fault = Fault("never sent")
        for attempt in range(ATTEMPTS):
            if attempt:
                self.counts.retried += 1
                await asyncio.sleep(_wait(fault, attempt, self._pause))
            try:
                async with self._rooms[model.fingerprint]:
                    last = attempt + 1 == ATTEMPTS
                    return await self._send(blank, model, question, empty_will_do=last)
            except Fault as caught:
                fault = caught
                if not fault.retry:
                    break
        raise ModelFault(
            f"{model.name}: {fault.message}",
            hint="check the model with `metamem models test`, then go on with the run",
        )

    async def _send(
        self, blank: CallRecord, model: LanguageModel, question: Question, empty_will_do: bool
    ) -> CallRecord:
        """One sending, accounted for however it ends."""
        worst = _worst(question)
        held = (worst.total, model.price(worst))
        await self.purse.hold(*held)
        number = self._log.begin_attempt(
            AttemptRecord(
                blank.key,
                self._run_id,
                blank.role,
                blank.model,
                blank.design_id,
                blank.task_id,
                held[0],
                held[1],
                datetime.now(UTC).isoformat(timespec="microseconds"),
            )
        )
        self.counts.sent += 1
        begun = time.monotonic()
        outcome: AttemptOutcome = "uncertain"
        detail, call, usage, money = "cancelled", None, Usage(), None
        try:
            completion = await _completed(model, question)
            usage, money = completion.usage, model.price(completion.usage)
            outcome, detail = "answered", ""
            if not completion.text.strip() and not empty_will_do:
                raise Fault("it gave an empty reply")
            call = replace(blank, reply=completion.text, usage=usage)
        except Fault as fault:
            detail = fault.message
            if outcome != "answered":
                outcome = "uncertain" if fault.billed is None else "failed"
            raise
        finally:
            seconds = time.monotonic() - begun
            end = AttemptEnd(
                outcome, usage, money if outcome == "answered" else 0.0, detail, seconds
            )
            self._log.end_attempt(number, end, call)
            cost = {"answered": (usage.total, money), "uncertain": held, "failed": (0, 0.0)}
            await self.purse.settle(held, cost[outcome])
        return call


async def _completed(model: LanguageModel, question: Question) -> Completion:
    try:
        async with asyncio.timeout(model.seconds):
            return await model.complete(question)
    except TimeoutError as error:
        raise Fault(f"no answer within {model.seconds:g} s", billed=None) from error


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


def _wait(fault: Fault, attempt: int, pause: float) -> float:
    """Twice as long each time, never less than the server asks for, and not all at once."""
    own: float = min(LONGEST_PAUSE, pause * 2 ** (attempt - 1))
    return max(fault.after or 0.0, own * (0.5 + random.random()))
