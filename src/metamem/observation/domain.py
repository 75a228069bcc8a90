"""Observation as a domain of parameters: when an observer is asked, what for, and what is told, set once
for all dialogues.

A task is a long dialogue: the `observational` design lives through it, then questions are asked about it.
What counts are right answers, few tokens in the context of whoever answers, and few calls of observer and
reflector; how much each counts is up to whoever learns.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Trial
from metamem.core.space import Bool, Choice, Float, Int, Only, Space
from metamem.core.types import Scored, Task
from metamem.designs import library
from metamem.designs.human import observational
from metamem.designs.human.observational import Settings
from metamem.domains.base import ParamsBase, Sizes
from metamem.observation.dialogues import VERSION, Dialogue, dialogue
from metamem.observation.playing import Scripted, play

DESIGN = "observational"
OBSERVER = "observer calls"
USUAL = Settings()
SPACE = Space(
    {
        "observe_at": Int(1_000, 60_000, USUAL.observe_at, log=True),
        "kept_raw": Float(0.0, 0.8, USUAL.kept_raw),
        "reflect_at": Int(500, 60_000, USUAL.reflect_at, log=True),
        "levels": Int(1, len(observational.Observational.GUIDANCE), USUAL.levels),
        "previous": Int(100, 8_000, USUAL.previous, log=True),
        "budget": Int(400, 4_000, USUAL.budget, log=True),
        "notes_share": Float(0.1, 0.95, USUAL.notes_share),
        "first": Choice(observational.FIRST, USUAL.first),
        "questions_apart": Bool(USUAL.questions_apart),
        "say_replaced": Bool(USUAL.say_replaced),
        "exact_words": Bool(USUAL.exact_words),
        "brief": Bool(USUAL.brief),
        "next_step": Bool(USUAL.next_step),
        "tail": Int(20, 600, USUAL.tail, log=True, only=Only("next_step", (True,))),
    }
)


class ObservationDomain(ParamsBase):
    name = observational.SETTINGS_DOMAIN
    space = SPACE
    acts = (OBSERVER,)
    reward_name = "score"  # answers right are a part of it: `answers right` has them alone
    # A model may have moods; the rules that stand in for one have none.
    suggestions: Mapping[str, Any] = {
        "designs": 40,
        "proposer": "adaptive",  # steps alone seldom find a threshold and a budget that help together
        "confirm": 6,
        "confirm_seeds": 1,
        "final_repeats": 1,
    }
    trial: Mapping[str, Any] = {"tokens": 2_000}

    def __init__(
        self,
        tokens: int = 40_000,
        answers: float = 0.4,
        context: float = 0.3,
        calls: float = 0.3,
        advice_tokens: int = 4_000,
        shuffled: bool = False,
        train: int = 16,
        valid: int = 80,
        test: int = 30,
        shift: int = 20,
        seed: int = 0,
    ) -> None:
        """`tokens` is how long a dialogue is. `answers`, `context` and `calls` say how much right answers,
        few tokens and few calls count: shares that come to 1. `advice_tokens` is the budget of the host.
        `shuffled` takes any option for the right one, so that answers are right by chance alone."""
        if tokens < 1_000:
            raise UsageError(f"a dialogue has 1,000 tokens at least, not {tokens}")
        if advice_tokens < 1:
            raise UsageError(f"what is told has one token at least, not {advice_tokens}")
        weights = (answers, context, calls)
        if not all(math.isfinite(w) and w >= 0 for w in weights) or abs(sum(weights) - 1) > 1e-9:
            raise UsageError(f"answers, context and calls are shares that come to 1, not {weights}")
        self._weights, self._advice_tokens = weights, advice_tokens
        self._shuffled, self._seed = shuffled, seed
        self._sizes, self._tokens = Sizes(train, valid, test, shift), tokens
        self._made = lru_cache(maxsize=512)(self._make)
        # What plays is part of what a score depends on.
        plays = library.load(DESIGN).id
        what = (tokens, weights, advice_tokens, shuffled, self._sizes.as_list(), seed)
        self.version = content_id("observation", VERSION, plays, *what)[:12]

    def describe(self) -> str:
        answers, context, calls = self._weights
        return (
            f"Set observational memory for long dialogues, of about {self._tokens:,} tokens each. A"
            " score is the share of questions answered right from what the memory tells, with a weight"
            f" of {answers:g}; how much shorter that is than the dialogue, with {context:g}; and how"
            " much fewer the calls of observer and reflector are than the sessions, with"
            f" {calls:g}. With a model of the role memory, it observes, reflects and answers; without"
            " one, rules do. In shift the dialogues are about other things, and longer."
        )

    def tasks(self, split: str) -> list[Task]:
        return [
            Task(f"{split}-{n:03d}", "remember a long dialogue", "dialogue")
            for n in range(self._sizes.of(split))
        ]

    def baselines(self) -> tuple[str, ...]:
        return ("every_time", "engram", "silent")

    def preset(self, name: str) -> Mapping[str, Any]:
        presets: dict[str, dict[str, Any]] = {
            # An observer that is asked whenever something was said.
            "every_time": {"observe_at": 1_000, "kept_raw": 0.0},
            "engram": {"observe_at": 10_000, "reflect_at": 20_000},
            # What remembering next to nothing is worth: any setting must beat that.
            "silent": {"observe_at": 60_000, "budget": 400},
        }
        if name not in presets:
            return super().preset(name)
        return self.space.completed(presets[name])

    def invariants(self) -> tuple[str, ...]:
        return (
            "the design that is scored is the one that a memory in use runs",
            "whoever answers sees the advice, cut to the budget of the host, and nothing else",
        )

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        shown = self._made(task.id)
        chat = trial.chat or Scripted()
        settings = Settings(**values)
        played = await play(settings, shown, chat, self._advice_tokens, trial.seed)
        right = sum(played.right) / len(played.right)
        called = played.observer + played.reflector
        parts = (
            right,
            1.0 - min(played.told / shown.tokens, 1.0),
            1.0 - min(called / len(shown.sessions), 1.0),
        )
        reward = sum(weight * part for weight, part in zip(self._weights, parts, strict=True))
        return Scored(
            min(max(reward, 0.0), 1.0),
            {
                "answers right": right,
                "told tokens": float(played.told),
                OBSERVER: float(played.observer),
                "reflector calls": float(played.reflector),
                "prompt tokens": float(played.prompts),
            },
        )

    def _make(self, task: str) -> Dialogue:
        split, _, number = task.rpartition("-")
        made = dialogue(self._seed, split, int(number), self._tokens)
        if not self._shuffled:
            return made
        luck = random.Random(derive_seed("shuffled", self._seed, task))
        asked = (replace(each, right=luck.randrange(len(each.options))) for each in made.asked)
        return replace(made, asked=tuple(asked))
