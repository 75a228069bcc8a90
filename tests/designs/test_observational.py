"""Observational memory: when observer and reflector are asked, and what they may not break."""

import re

import pytest

from metamem.core.types import Experience, Message, Query
from metamem.designs import text
from metamem.designs.human import observational
from metamem.domains.dialogue.domain import DialogueDomain
from tests.designs.scripted import Model, design, jail, learn, opened, told

__all__ = ["jail"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


def said(number: int, first: int = 0, words: int = 10) -> Experience:
    """Messages of about so many tokens each, one a day."""
    return Experience(
        messages=tuple(
            Message("Ann", f"m{n} " + "word " * words, f"{n} May")
            for n in range(first, first + number)
        )
    )


def noting(prompt: str, system: str) -> str:
    """An observer that notes which messages it saw, and a reflector that counts."""
    if system == observational.Observational.REFLECTOR:
        return "<observations>\nDate: long ago\n- [high] all summed up\n</observations>"
    seen = re.findall(r"Ann: (m\d+)", prompt)
    notes = "\n".join(f"- [medium] Ann stated {name}" for name in seen)
    return (
        f"<observations>\nDate: {len(seen)} of May\n{notes}\n</observations>\n"
        "<current-task>to listen</current-task><suggested-response>go on</suggested-response>"
    )


async def test_the_observer_is_asked_at_the_threshold_and_keeps_a_fifth_raw(jail):
    model = Model(noting)
    memory = await opened(jail, design("observational", observe_at=130), model)
    await learn(memory, said(9))  # 13 tokens each
    assert not model.asked
    assert (await told(memory)).startswith("Latest, word for word:\nDate: 0 May\nAnn: m0")
    await learn(memory, said(1, 9))
    assert len(model.asked) == 1
    advice = await told(memory)
    assert "- [medium] Ann stated m7\n\nLatest, word for word:\nDate: 8 May\nAnn: m8" in advice
    assert "Ann: m7" not in advice and "stated m8" not in advice
    assert advice.endswith("Current task: to listen\nSuggested next: go on")
    assert "Date: 3 May\nAnn: m3" in model.asked[0][0]


async def test_the_beginning_stays_the_same_between_observations(jail):
    model = Model(noting)
    memory = await opened(jail, design("observational", observe_at=130), model)
    await learn(memory, said(10))
    first = (await told(memory)).partition("\n\nLatest")[0]
    for n in range(10, 14):
        await learn(memory, said(1, n))
        assert len(model.asked) == 1
        assert (await told(memory, Query(f"what about {n}?"))).startswith(first + "\n\nLatest")
    await learn(memory, said(6, 14))
    assert len(model.asked) == 2
    assert (await told(memory)).startswith(first + "\n")  # new notes come after the old ones


async def test_the_observer_is_not_asked_again_at_once_after_a_failure(jail):
    model = Model("I have nothing to say.")
    memory = await opened(jail, design("observational", observe_at=130), model)
    await learn(memory, said(10))
    assert len(model.asked) == 2  # two attempts
    await learn(memory, said(1, 10))
    assert len(model.asked) == 2
    assert "Ann: m0" in await told(memory)  # nothing is lost
    model.answer = noting
    await learn(memory, said(2, 11))
    advice = await told(memory)
    assert len(model.asked) > 2 and "stated m0" in advice and "Ann: m12" in advice


async def test_the_reflector_rewrites_only_what_is_over_its_threshold(jail):
    model = Model(noting)
    made = design("observational", observe_at=130, reflect_at=200)
    memory = await opened(jail, made, model)
    reflector = observational.Observational.REFLECTOR
    while not any(system == reflector for _, system in model.asked):
        before = await told(memory)
        await learn(memory, said(1, len(model.asked) * 10))
    notes = before.partition("\n\nLatest")[0]
    assert 150 < text.tokens(notes) <= 230
    assert sum(system == reflector for _, system in model.asked) == 1
    assert (await told(memory)).startswith(
        "Notes on what was said and done:\nDate: long ago\n- [high] all summed up\n\nLatest"
    )


@pytest.mark.parametrize(
    ("reflection", "tries"),
    [
        ("", 4),
        ("nothing of use", 4),
        ("<observations>\n- [high] cut off", 4),
        ("<observations>\n" + "- [low] on and on\n" * 500 + "</observations>", 4),
        ("<observations>\n" + "\n".join(f"- [low] n{n}" for n in range(99)) + "</observations>", 4),
        ("<observations>\n- ok\n</observations>", 4),  # next to nothing
        ("<observations>\n- [high] ten words are enough to be believed here\n</observations>", 1),
    ],
)
async def test_a_bad_reflection_climbs_the_ladder_and_changes_nothing(jail, reflection, tries):
    def answer(prompt: str, system: str) -> str:
        return noting(prompt, system) if system != reflector else reflection

    reflector = observational.Observational.REFLECTOR
    model = Model(answer)
    memory = await opened(
        jail, design("observational", observe_at=130, kept_raw=0, reflect_at=60, LEAST=0.1), model
    )
    await learn(memory, said(10))
    prompts = [prompt for prompt, system in model.asked if system == reflector]
    assert len(prompts) == tries
    ladder = observational.Observational.GUIDANCE
    assert all(prompt.endswith(step) for prompt, step in zip(prompts, ladder, strict=False))
    advice = await told(memory)
    assert ("stated m0" in advice) == (tries == 4)
    await learn(memory, said(1, 10))
    assert sum(system == reflector for _, system in model.asked) == tries  # a pause follows


async def test_a_large_message_is_read_in_pieces_and_none_of_it_is_lost(jail):
    model = Model("<observations>\n- [low] a piece\n</observations>")
    memory = await opened(
        jail, design("observational", observe_at=1000, PIECE=2000, kept_raw=0), model
    )
    long = "".join(f"word{n} " for n in range(2000))
    await learn(memory, Experience(messages=(Message("Ann", "m1 " + long, "1 May"),)))
    read = "".join(
        "".join(re.findall(r"Ann: (.*)", prompt.partition("<lines>")[2]))
        for prompt, _ in model.asked
    )
    assert len(model.asked) >= 3
    assert all(f"word{n} " in read for n in range(2000))


async def test_notes_beyond_the_budget_are_told_by_priority_and_age(jail):
    def answer(prompt: str, system: str) -> str:
        marks = ("low", "medium", "high")
        lines = "\n".join(f"- [{marks[n % 3]}] note{n} is here" for n in range(60))
        return f"<observations>\nDate: 1 May\n{lines}\n</observations>"

    memory = await opened(
        jail, design("observational", observe_at=130, kept_raw=0, budget=400), Model(answer)
    )
    await learn(memory, said(10))
    advice = await told(memory)
    assert text.tokens(advice) <= 400
    notes = re.findall(r"\[(\w+)\] note(\d+) is", advice)
    assert [int(n) for _, n in notes] == sorted(int(n) for _, n in notes)
    assert {int(n) for mark, n in notes if mark == "high"} == set(range(2, 60, 3))
    medium = [int(n) for mark, n in notes if mark == "medium"]
    assert medium and min(medium) > 1 and max(medium) == 58
    assert advice.splitlines()[1] == "Date: 1 May"


async def test_what_is_told_fits_the_budget_and_ends_with_the_task(jail):
    for budget in (80, 90, 130):
        made = design("observational", observe_at=130, kept_raw=0.9, budget=budget)
        memory = await opened(jail, made, Model(noting))
        await learn(memory, said(11))
        advice = await told(memory)
        assert text.tokens(advice) <= budget
        assert "Notes on" in advice and "Latest, word for word" in advice
        assert "Ann: m10 " in advice and advice.endswith("Suggested next: go on")


async def test_a_conversation_of_the_dialogue_domain_is_noted_under_its_dates(jail):
    domain = DialogueDomain(train=1, valid=1, test=1, shift=1)
    group = domain.tasks("train")[0].group
    model = Model(
        lambda prompt, system: (
            f"<observations>\n{re.findall('Date: .*', prompt)[0]}\n"
            f"- [high] someone stated something\n</observations>"
        )
    )
    memory = await opened(jail, design("observational", observe_at=500), model)
    history = list(domain.history(group))
    await learn(memory, *history)
    advice = await told(memory, Query("What was said?"))
    assert len(model.asked) >= 3
    assert f"Date: {history[0].messages[0].time}\n- [high] someone" in advice
    last = history[-1].messages[-1]
    assert f"{last.speaker}: {last.text}" in advice


async def test_raw_lines_have_a_bound_too(jail):
    model = Model()
    model.away = True
    memory = await opened(
        jail, design("observational", observe_at=130, RAW_MOST=200, PAUSE=0.1), model
    )
    await learn(memory, *(said(1, n) for n in range(30)))
    advice = await told(memory)
    assert "Ann: m29" in advice and "Ann: m5 " not in advice
    assert any("forgotten" in line for line in memory.logs)
    model.away, model.answer = False, noting
    await learn(memory, said(1, 30))
    assert "stated m2" in await told(memory)  # it still observes when the model is back
