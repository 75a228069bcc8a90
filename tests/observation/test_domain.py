"""Observation as a domain of parameters: the suite, what each setting does, and where the score comes from."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from random import Random
from statistics import fmean
from typing import Any

import pytest

from metamem.core.chat import Question, Reply
from metamem.core.errors import ModelRefused, UsageError
from metamem.core.protocols import Trial
from metamem.core.tokens import count_tokens
from metamem.core.types import Scored
from metamem.designs.human.observational import Observational, Settings
from metamem.domains.conformance import ParamsConformance
from metamem.evaluation.statistics import binomial_tail
from metamem.observation import ObservationDomain
from metamem.observation.dialogues import OPTIONS, dialogue
from metamem.observation.domain import OBSERVER, SPACE
from metamem.observation.phrases import COLOURS, NEXT_THINGS
from metamem.observation.playing import Scripted, play

SHORT: dict[str, Any] = {"tokens": 4_000, "advice_tokens": 800, "train": 6, "valid": 8, "test": 4, "shift": 4}  # fmt: skip


class TestObservation(ParamsConformance):
    def make(self) -> ObservationDomain:
        return ObservationDomain(**SHORT)


def short(**settings: Any) -> ObservationDomain:
    return ObservationDomain(**{**SHORT, **settings})


async def scored(domain: ObservationDomain, tasks: int = 4, **values: Any) -> list[Scored]:
    given = domain.space.completed(values)
    return [await domain.score(given, task, Trial(1)) for task in domain.tasks("valid")[:tasks]]


def mean(found: list[Scored], cost: str = "") -> float:
    return fmean(each.costs[cost] if cost else each.reward for each in found)


def test_the_space_has_every_setting_of_the_design_with_its_default() -> None:
    assert list(SPACE) == [field.name for field in fields(Settings)]
    assert SPACE.defaults() == asdict(Settings())
    assert (Settings().observe_at, Settings().reflect_at) == (30_000, 40_000)


def test_any_values_of_the_space_are_settings() -> None:
    luck = Random(0)
    for _ in range(500):
        Settings(**SPACE.drawn(luck))


async def test_the_threshold_says_how_often_the_observer_is_asked() -> None:
    domain = ObservationDomain()  # dialogues as long as they usually are
    calls = [
        (await scored(domain, 1, observe_at=at))[0].costs[OBSERVER]
        for at in (60_000, 30_000, 15_000, 5_000, 1_000)
    ]
    assert calls[:2] == [0, 1] and calls == sorted(set(calls))
    # Every time that something was said, the share for calls is spent.
    (every,) = await scored(domain, 1, observe_at=1_000, kept_raw=0.0)
    assert every.costs[OBSERVER] >= len(domain._made("valid-000").sessions)


async def test_observing_makes_questions_answerable() -> None:
    """What a dialogue began with is long out of the latest raw lines."""
    domain = ObservationDomain(tokens=12_000)
    without = await scored(domain, 8, observe_at=60_000, budget=800)
    noted = await scored(domain, 8, observe_at=2_000, budget=1_600)
    assert mean(noted, "answers right") > mean(without, "answers right") + 0.3
    assert mean(without, OBSERVER) == 0


async def test_questions_are_answerable_after_a_reflection() -> None:
    """The notes were rewritten, and are shorter; what is in no note any more is not known."""
    domain = ObservationDomain(tokens=12_000)
    values = {"observe_at": 2_000, "kept_raw": 0.0, "budget": 4_000, "notes_share": 0.9}
    whole = await scored(domain, 8, **values)
    reflected = await scored(domain, 8, **values, reflect_at=1_500)
    assert mean(whole, "reflector calls") == 0 < mean(reflected, "reflector calls")
    assert mean(reflected, "told tokens") < mean(whole, "told tokens") - 200
    assert 0.5 < mean(reflected, "answers right") < mean(whole, "answers right")


async def test_shuffled_answers_drop_to_chance() -> None:
    values = {"observe_at": 1_000, "kept_raw": 0.0, "budget": 800, "notes_share": 0.95}
    domains = short(valid=40), short(valid=40, shuffled=True)
    true, shuffled = [await scored(domain, 40, **values) for domain in domains]
    questions = sum(len(domains[0]._made(task.id).asked) for task in domains[0].tasks("valid"))
    right = round(sum(each.costs["answers right"] for each in shuffled) * questions / 40)
    chance = 1 / OPTIONS
    assert binomial_tail(right, questions, chance) > 0.001
    assert binomial_tail(questions - right, questions, 1 - chance) > 0.001
    assert mean(true, "answers right") > 0.5
    # Nothing but the answers is another: the same memory, the same tokens and calls.
    for cost in ("told tokens", OBSERVER, "reflector calls", "prompt tokens"):
        assert mean(true, cost) == mean(shuffled, cost)


async def test_the_order_of_options_tells_nothing() -> None:
    firsts = [dialogue(0, "train", n, 1_000).asked[0].right for n in range(200)]
    for place in range(OPTIONS):
        assert 25 < firsts.count(place) < 75


async def test_scores_are_the_same_in_any_order_and_process() -> None:
    sets = [SPACE.drawn(Random(n)) for n in range(3)]
    one, other = short(), short()
    tasks = one.tasks("test")[:3]
    forth = {(n, t.id): await one.score(v, t, Trial(5)) for n, v in enumerate(sets) for t in tasks}
    back = {
        (n, t.id): await other.score(v, t, Trial(5))
        for t in reversed(tasks)
        for n, v in reversed(list(enumerate(sets)))
    }
    assert forth == back


async def test_the_score_is_the_weighted_sum_of_its_parts() -> None:
    (told,) = await scored(short(answers=1.0, context=0.0, calls=0.0), 1, observe_at=1_000)
    assert told.reward == pytest.approx(told.costs["answers right"])
    (brief,) = await scored(short(answers=0.0, context=1.0, calls=0.0), 1, observe_at=1_000)
    length = short()._made("valid-000").tokens
    assert brief.reward == pytest.approx(1 - told.costs["told tokens"] / length)
    (quiet,) = await scored(short(answers=0.0, context=0.0, calls=1.0), 1, observe_at=1_000)
    sessions = len(short()._made("valid-000").sessions)
    called = told.costs[OBSERVER] + told.costs["reflector calls"]
    assert quiet.reward == pytest.approx(max(1 - called / sessions, 0.0))
    (usual,) = await scored(short(), 1, observe_at=1_000)
    parts = 0.4 * told.reward + 0.3 * brief.reward + 0.3 * quiet.reward
    assert usual.reward == pytest.approx(parts)
    assert dict(usual.costs) == dict(told.costs)


# Where a setting counts: what else must be so, and another value. Ladders take notes that outgrow their
# threshold by far, priorities and shares a budget that is too small for all.
BASE: dict[str, Any] = {"observe_at": 2_000, "budget": 700}
CHANGES: Mapping[str, tuple[Any, dict[str, Any]]] = {
    "observe_at": (4_000, {}),
    "kept_raw": (0.7, {}),
    "reflect_at": (600, {}),
    "levels": (1, {"reflect_at": 500}),
    "previous": (100, {"observe_at": 1_000}),
    "budget": (1_500, {}),
    "notes_share": (0.9, {}),
    "first": ("low", {}),
    "questions_apart": (False, {"budget": 4_000, "notes_share": 0.95}),
    "say_replaced": (False, {}),
    "exact_words": (False, {}),
    "brief": (True, {}),
    "next_step": (False, {}),
    "tail": (20, {}),
}


@pytest.mark.parametrize("name", list(SPACE))
async def test_every_setting_changes_what_is_told(name: str) -> None:
    """Word for word, on some of a few dialogues: not the score, which luck may keep the same."""
    value, where = CHANGES[name]
    before = SPACE.completed({**BASE, **where})
    after = SPACE.completed({**before, name: value})
    assert before[name] != after[name]
    changed = 0
    for number in range(3):
        shown = dialogue(0, "valid", number, 12_000)
        heard = [Listening(), Listening()]
        for values, chat in zip((before, after), heard, strict=True):
            await play(Settings(**values), shown, chat, 4_000, 0)
        changed += heard[0].advice != heard[1].advice
    assert changed


class Listening(Scripted):
    """The scripted model, and what it was shown of the memory."""

    def __init__(self) -> None:
        self.advice: list[str] = []
        self.systems: set[str] = set()

    async def ask(self, question: Question) -> Reply:
        self.systems.add(question.turns[0].text)
        if question.choices:
            self.advice.append(question.turns[-1].text)
        return await super().ask(question)


async def test_advice_is_cut_to_the_budget_of_the_host() -> None:
    chat = Listening()
    shown = dialogue(0, "valid", 0, 6_000)
    played = await play(Settings(), shown, chat, 300, 0)
    assert played.told <= 300
    assert all(count_tokens(told.partition("</notes>")[0]) <= 310 for told in chat.advice)


async def test_a_model_that_is_given_observes_and_answers() -> None:
    domain, chat = short(), Listening()
    values = domain.space.completed({"observe_at": 1_000, "reflect_at": 500})
    task = domain.tasks("valid")[0]
    told = await domain.score(values, task, Trial(1, chat))
    assert Settings(**values).observer in chat.systems and Observational.REFLECTOR in chat.systems
    assert told == await domain.score(values, task, Trial(1))  # it is the same one, after all


class Refusing(Scripted):
    async def ask(self, question: Question) -> Reply:
        raise ModelRefused("nothing will do")


async def test_a_model_that_gives_no_answer_knows_nothing() -> None:
    domain = short()
    values = domain.space.completed({"observe_at": 1_000})
    told = await domain.score(values, domain.tasks("valid")[0], Trial(1, Refusing()))
    assert told.costs["answers right"] == 0.0 < told.costs[OBSERVER]


def test_shift_is_about_other_things_and_longer() -> None:
    splits = ("test", "shift")
    here, there = ([dialogue(0, split, n, 6_000) for n in range(20)] for split in splits)
    lengths = [fmean(each.tokens for each in several) for several in (here, there)]
    assert 5_500 < lengths[0] < 6_500 and lengths[1] > 1.3 * lengths[0]
    facts = [
        {o for d in several for a in d.asked for o in a.options if not o.isdigit()}
        for several in (here, there)
    ]
    common = facts[0] & facts[1]  # colours and errands
    assert common <= {*COLOURS, *NEXT_THINGS} and len(facts[1] - common) > 50


@pytest.mark.parametrize(
    "wrong",
    [
        {"tokens": 10},
        {"advice_tokens": 0},
        {"answers": 0.5},
        {"answers": 1.4, "context": -0.4, "calls": 0.0},
        {"answers": float("nan")},
        {"train": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ObservationDomain(**wrong)


def test_what_scores_depend_on_is_in_the_version() -> None:
    usual = ObservationDomain().version
    others: list[dict[str, Any]] = [
        {"tokens": 30_000},
        {"answers": 0.5, "context": 0.2},
        {"advice_tokens": 1_500},
        {"shuffled": True},
        {"seed": 1},
        {"valid": 81},
    ]
    versions = {ObservationDomain(**settings).version for settings in others}
    assert len(versions) == len(others) and usual not in versions
