"""Dialogue as a domain: questions about long conversations that a memory has lived through."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.splits import check_split
from metamem.core.types import Experience, Task
from metamem.domains.base import DomainBase, Sizes
from metamem.domains.dialogue.conversation import Conversation, Question
from metamem.domains.dialogue.mirror import experiences
from metamem.domains.dialogue.scoring import VERSION
from metamem.domains.dialogue.sources import Generated, Locomo, Source
from metamem.domains.dialogue.world import DialogueWorld

_RESERVE = "reserve"  # beside the splits


class DialogueDomain(DomainBase):
    """Questions about long conversations.

    `data` is `generated`, or a file in the format of LoCoMo. `train`, `valid`, `test` and `shift`
    are numbers of conversations, `reserve` how many further ones of train there are for those who ask
    for more than it has (generated ones alone), `questions` the most that are asked about each (0: all), `budget`
    the tokens of a reply that count, `batch` the messages that a memory is given at a time.
    """

    name = "dialogue"
    max_steps = 1
    agent = "relay"
    lives = 12  # train conversations that a memory may study before its own
    # Neither the world nor the agent leaves anything to chance: nothing need be played twice.
    suggestions: Mapping[str, Any] = {"designs": 120, "final_repeats": 1}

    def __init__(
        self,
        data: str = "generated",
        train: int = 12,
        valid: int = 10,
        test: int = 10,
        shift: int = 10,
        questions: int = 0,
        budget: int = 200,
        batch: int = 4,
        seed: int = 0,
        reserve: int = 36,
    ) -> None:
        if reserve < 0:
            raise UsageError(f"a reserve cannot hold less than nothing: {reserve}")
        if questions < 0:
            raise UsageError(f"questions must not be negative: {questions}", hint="0 means all")
        for setting, value in (("budget", budget), ("batch", batch)):
            if value < 1:
                raise UsageError(f"{setting} must be at least 1, not {value}")
        sizes = Sizes(train, valid, test, shift)
        self._source: Source = (
            Generated(sizes, seed)
            if data == "generated"
            else Locomo(Path(data).expanduser(), sizes, seed)
        )
        self._questions, self._budget = questions, budget
        self._batch, self._seed, self._reserve = batch, seed, reserve
        self._tasks: dict[str, tuple[Task, ...]] = {}
        self._history = lru_cache(maxsize=64)(self._lived)
        self.version = content_id(VERSION, self._source.version, questions, budget, batch, seed)[
            :12
        ]

    def describe(self) -> str:
        return (
            "Questions about long conversations between two people, held over many dated sessions."
            f" A memory is given the sessions in order, {self._batch} messages at a time: as"
            " messages, and as steps, whose action is what was said and whose observation is the"
            " same with its day and speaker; the goal of such a batch is all of its text. Then each"
            f" question is asked; the advice is the reply, and its first {self._budget} tokens"
            " count. Good advice holds the lines that answer, or the answer in its context. Facts"
            " change, are corrected and withdrawn: what no longer holds counts against a reply,"
            " whatever is told beside what is needed costs, and where nothing is known or may be"
            " told, saying nothing is right. A design may study conversations of train before its"
            " own, with their questions: the observation after the reply tells what would have been"
            f" right. Data: {self._source.describe()}."
        )

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        if split not in self._tasks:
            self._tasks[split] = self._asked(self._source.groups(split))
        return self._tasks[split]

    def reserve(self) -> Sequence[Task]:
        if _RESERVE not in self._tasks:
            self._tasks[_RESERVE] = self._asked(self._source.further(self._reserve))
        return self._tasks[_RESERVE]

    def world(self, task: Task, seed: int) -> DialogueWorld:
        """The question of a task. Nothing is left to chance, so the seed plays no part."""
        return DialogueWorld(task.data["question"], self._budget)

    def history(self, group: str) -> Sequence[Experience]:
        return self._history(group)

    def baselines(self) -> tuple[str, ...]:
        return (*super().baselines(), "object_places", "line_search", "observational")

    def invariants(self) -> tuple[str, ...]:
        return (
            "`update` is given one conversation only, its sessions in order of their dates; `study`"
            " is given others, between other people.",
            "A question can be asked about any session, and names the person whom it is about.",
            f"Only the first {self._budget} tokens of the advice count; lines keep their words.",
            "The latest value of a fact is the right one; telling an earlier one halves the score.",
            "Every line that was not needed costs: two for one leave 0.83, eight for one 0.42.",
            "What a speaker asked to forget must not be told.",
            "Where nothing was said that answers, no advice is the best advice.",
            "An episode is one action: the reply.",
        )

    def oracle(self, task: Task) -> str:
        question: Question = task.data["question"]
        if not question.answerable:
            return ""
        lines = [group[0].text for group in question.evidence]
        answer = "" if question.suffices else ", ".join(question.answers[0])
        return "\n".join([*([answer] if answer else []), *lines])

    def _lived(self, group: str) -> Sequence[Experience]:
        spoken = self._source.conversation(group)
        return tuple(e for session in spoken.sessions for e in experiences(session, self._batch))

    def _asked(self, groups: Sequence[str]) -> tuple[Task, ...]:
        return tuple(
            Task(q.id, q.text, q.kind, {"question": q}, group)
            for group in groups
            for q in self._chosen(self._source.conversation(group))
        )

    def _chosen(self, conversation: Conversation) -> Sequence[Question]:
        """So many as are asked for, drawn by the seed, in their own order."""
        asked = conversation.questions
        if not 0 < self._questions < len(asked):
            return asked
        rng = random.Random(derive_seed("questions", self._seed, conversation.id))
        return [asked[n] for n in sorted(rng.sample(range(len(asked)), self._questions))]
