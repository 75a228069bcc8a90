"""The human designs that ask a model: each does what its paper says, and loses nothing when the
model is away, silent or talks nonsense.
"""

from dataclasses import replace

import pytest

from metamem.core.types import Experience, Message, Query, Step
from tests.designs.samples import EPISODES, QUERIES, VIEW, failed, fetched
from tests.designs.scripted import (
    ASKED,
    GOOD,
    LOST,
    NAMES,
    WON,
    Model,
    design,
    jail,
    learn,
    opened,
    told,
)

__all__ = ["jail"]
pytestmark = pytest.mark.asyncio(loop_scope="module")  # one jail for all: it is slow to start

TALK = Experience(
    messages=(Message("Ann", "I have a dog called Pim.", "1 May"), Message("Bo", "Nice!", "1 May"))
)
NONSENSE = (
    "",
    " \n ",
    "I am sorry, but I cannot do that.",
    "<cheatsheet>",
    "</notes><notes>",
    "<cheatsheet></cheatsheet><notes> </notes><progress>\n</progress><observations></observations>",
    "<observations>\n- [high] and then it was cut off",
    "# Item 1\n## Title\n## Content\nADD:\nEDIT 7: nothing\nREMOVE\nAGREE 99",
    "<cheatsheet>round</cheatsheet>".replace("round", "round and round we go " * 400),
    "\x00\ufffd{}[]%s{0}",
)


FALLBACK = {
    "code_rag": "> go to north tower 1",
    "g_memory": "> go to north tower 1",
    "observational": "> go to north tower 1",
    "notes_file_seeded": "## How to work",
}


# --- all of them -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
async def test_without_a_model_each_says_what_its_card_promises(jail, name):
    away = Model()
    away.away = True
    advices = []
    for llm in (None, away):
        memory = await opened(jail, name, llm)
        await learn(memory, *EPISODES, TALK)
        advices.append([await told(memory, query) for query in (ASKED, *QUERIES)])
        if name != "observational":  # it has too little to ask about yet
            assert any("no answer from the model" in line for line in memory.logs)
    assert advices[0] == advices[1]
    expected = FALLBACK.get(name, "")
    assert expected in advices[0][0]
    assert bool(advices[0][0]) == bool(expected)


@pytest.mark.parametrize("name", NAMES)
async def test_with_a_model_each_learns_and_repeats_itself(jail, name):
    small = {"observe_at": 60, "kept_raw": 0} if name == "observational" else {}
    advices = []
    for _ in range(2):
        memory = await opened(jail, design(name, **small), Model())
        start = await told(memory)
        assert start == "" or name == "notes_file_seeded"
        await learn(memory, *EPISODES, TALK)
        advices.append([await told(memory, query) for query in (ASKED, *QUERIES)])
    assert advices[0] == advices[1]
    assert "ook first" in advices[0][0]


@pytest.mark.parametrize("name", NAMES)
async def test_nonsense_takes_nothing_away(jail, name):
    small = {"observe_at": 60, "kept_raw": 0} if name == "observational" else {}
    model = Model()
    memory = await opened(jail, design(name, **small), model)
    await learn(memory, WON, LOST)
    before = await told(memory)
    assert "ook first" in before
    for nonsense in NONSENSE:
        model.answer = nonsense
        await learn(memory, fetched("ladder", "south tower", "guard"))
        model.away = True
        await learn(memory, failed("ladder", "north tower", "guard"))
        model.away = False
        assert "ook first" in await told(memory), nonsense
    model.answer = GOOD
    await learn(memory, WON)
    assert "ook first" in await told(memory)


@pytest.mark.parametrize("name", NAMES)
async def test_snapshots_and_forks_carry_everything(jail, name):
    small = {"observe_at": 60} if name == "observational" else {}
    made = design(name, **small)
    memory = await opened(jail, made, Model())
    await learn(memory, *EPISODES)
    model = Model()
    model.away = True
    copies = [await opened(jail, made, Model(), await memory.snapshot()), await memory.fork()]
    here = await told(memory)
    for copy in copies:
        assert await told(copy) == here
        await learn(copy, fetched("drum", "mill", "cook"), TALK)
    assert await told(copies[0]) == await told(copies[1])
    assert await told(memory) == here


@pytest.mark.parametrize("name", NAMES)
async def test_prompts_are_bounded_and_keep_beginning_and_end(jail, name):
    steps = tuple(Step(f"try {n}", f"seen {n} " + "filler " * 2000) for n in range(300))
    steps = (Step("begin", "the beginning"), *steps, Step("finish", "the end", (), 1.0, True))
    huge = Experience("a long way", "at first", (), steps, 1.0)
    model = Model()
    memory = await opened(jail, design(name), model)
    await learn(memory, huge, huge, huge, huge, huge, huge)
    prompts = [prompt for prompt, _ in model.asked]
    assert prompts
    assert max(map(len, prompts)) < 200_000
    assert "the beginning" in prompts[0]
    assert "the end" in prompts[0] or name == "observational"  # it reads all of it, in order
    assert len(await told(memory, Query("a long way", "at first"))) < 40_000


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_at_all_asks_no_model(jail, name):
    model = Model()
    memory = await opened(jail, name, model)
    await learn(memory, Experience(), Experience("goal", "seen"))
    assert not model.asked


# --- ReasoningBank ---------------------------------------------------------------------------


async def test_reasoning_bank_has_prompts_for_success_and_failure(jail):
    model = Model()
    memory = await opened(jail, "reasoning_bank", model)
    await learn(memory, WON, LOST, replace(WON, reward=0.5))
    won, lost, half = (system for _, system in model.asked)
    assert "solved" in won and "failed" not in won
    assert "failed" in lost and half == lost
    assert "> grab lantern 1" in model.asked[0][0] and WON.goal in model.asked[0][0]


async def test_reasoning_bank_tells_the_items_of_the_nearest_episodes(jail):
    def answer(prompt: str, system: str) -> str:
        thing = "drum" if "drum" in prompt else "lantern"
        one = f"# Memory Item 1\n## Title About the {thing}\n## Description d\n## Content Seek it."
        return one + "".join(
            f"\n\n**Title:** More {n}\n**Content:** So it goes.\nAnd on." for n in range(5)
        )

    other = fetched("drum", "mill", "cook")
    for nearest, both in ((1, False), (2, True)):
        memory = await opened(
            jail, design("reasoning_bank", NEAREST=nearest, FLOOR=0), Model(answer)
        )
        await learn(memory, WON, other)
        advice = await told(memory, Query(other.goal, VIEW))
        lines = advice.splitlines()
        assert lines[1] == "- About the drum (d): Seek it."
        assert lines[2] == "- More 0: So it goes. And on."
        assert len(lines) == 1 + 3 * nearest  # at most three items an episode
        assert ("About the lantern" in advice) == both
    memory = await opened(jail, "reasoning_bank", Model(answer))
    await learn(memory, WON)
    assert await told(memory, Query("xyzzy plugh", "fnord")) == ""


async def test_reasoning_bank_tries_an_episode_again_once_the_model_works(jail):
    model = Model()
    memory = await opened(jail, "reasoning_bank", model)
    model.away = True
    other = fetched("drum", "mill", "cook")
    await learn(memory, other)
    assert await told(memory, Query(other.goal, VIEW)) == ""
    model.away = False
    await learn(memory, WON)
    assert [("drum" in prompt) for prompt, _ in model.asked] == [True, False, True]
    assert "Look first" in await told(memory, Query(other.goal, VIEW))
    await learn(memory, LOST)
    assert len(model.asked) == 4  # and not a third time


# --- the curated documents -------------------------------------------------------------------


async def test_the_sheet_is_replaced_by_the_curated_text_and_told_whole(jail):
    model = Model("So be it.\n<cheatsheet>first sheet</cheatsheet>")
    memory = await opened(jail, "dynamic_cheatsheet", model)
    await learn(memory, WON)
    assert await told(memory) == await told(memory, Query("sing")) == "first sheet"
    model.answer = "<CheatSheet>\nsecond sheet\n</CheatSheet>"
    await learn(memory, LOST)
    assert await told(memory) == "second sheet"
    prompt, system = model.asked[1]
    assert "first sheet" in prompt and "Reward at the end: 0" in prompt
    assert "2500 words" in system


@pytest.mark.parametrize(
    ("name", "tag"),
    [("dynamic_cheatsheet", "cheatsheet"), ("notes_file", "notes"), ("memory_bank", "progress")],
)
async def test_a_curated_document_survives_mishaps_and_catches_up(jail, name, tag):
    model = Model(f"<{tag}>{' '.join(f'w{n}' for n in range(100))}</{tag}>")
    memory = await opened(jail, name, model)
    await learn(memory, WON)
    before = await told(memory)
    assert before.endswith("w99")
    for mishap in (
        "no tag at all",
        f"<{tag}></{tag}>",
        f"<{tag}>the same as before</{tag}>",
        f"<{tag}>cut off in the mid",
        f"<{tag}>" + "over and over again " * 300 + f"</{tag}>",
    ):
        model.answer = mishap
        await learn(memory, fetched("drum", "mill", "cook"))
        assert await told(memory) == before, mishap
    model.answer = f"<{tag}>{'all is well now ' * 10}</{tag}>"
    await learn(memory, fetched("harp", "barn", "cook"))
    prompt, _ = model.asked[-1]
    assert prompt.count("Goal: bring a drum to the cook") == 4  # five wait at most, with the new
    assert "Goal: bring a harp to the cook" in prompt
    assert "all is well now" in await told(memory)
    await learn(memory, LOST)
    assert model.asked[-1][0].count("Goal: ") == 1  # nothing is read twice


async def test_a_document_that_is_too_long_is_cut_after_a_whole_line(jail):
    lines = "\n".join(f"line {n} of many" for n in range(2000))
    memory = await opened(jail, "notes_file", Model(f"<notes>{lines}</notes>"))
    await learn(memory, WON)
    advice = await told(memory)
    assert 7_900 < len(advice) <= 8_000
    assert lines.startswith(advice + "\n")


async def test_seeded_notes_begin_with_conventions_and_are_curated(jail):
    model = Model("<notes>too short to be true</notes>")
    memory = await opened(jail, "notes_file_seeded", model)
    start = await told(memory)
    assert 1_800 < len(start) < 2_200
    await learn(memory, WON)
    assert start in model.asked[0][0]
    assert await told(memory) == start
    model.answer = f"<notes>{start}\n- and one more</notes>"
    await learn(memory, LOST)
    assert await told(memory) == f"{start}\n- and one more"


async def test_memory_bank_keeps_the_documents_that_a_reply_leaves_out(jail):
    model = Model("<project_brief>bring things</project_brief><progress>one done</progress>")
    memory = await opened(jail, "memory_bank", model)
    await learn(memory, WON)
    assert await told(memory) == "# Project brief\nbring things\n\n# Progress\none done"
    model.answer = (
        "<progress> </progress><active_context>now</active_context><tech_context>ropes"
        "<system_patterns>towers</system_patterns>"
    )
    await learn(memory, LOST)
    assert (await told(memory)).split("\n\n") == [
        "# Project brief\nbring things",
        "# System patterns\ntowers",
        "# Active context\nnow",
        "# Progress\none done",
    ]
    names = ("project_brief", "system_patterns", "tech_context", "active_context", "progress")
    assert all(name in model.asked[0][1] for name in names)


# --- code patterns ---------------------------------------------------------------------------


async def test_code_rag_tells_near_episodes_and_near_patterns(jail):
    model = Model()
    memory = await opened(jail, "code_rag", model)
    await learn(memory, WON)
    model.patterns = [
        {"problem": "bake bricks in the sun", "solution": "use straw", "example": "mix()"},
        {"problem": " ", "solution": "nothing", "example": ""},
        {"problem": WON.goal, "solution": "Ask the guard.", "example": "guard.ask()"},
        {"problem": "a fourth", "solution": "is too many", "example": ""},
    ]
    await learn(memory, LOST)
    advice = await told(memory)
    patterns, *episodes = advice.split("\n\n")
    assert patterns.endswith(f"- {WON.goal}: Ask the guard.\nguard.ask()")  # the newer one
    assert "straw" not in patterns and "fourth" not in patterns
    assert len(episodes) == 1 and "south tower 1" in episodes[0]  # the same beginning again
    assert "straw" in await told(memory, Query("bake bricks in the sun"))


async def test_code_rag_tries_an_episode_again_once_the_model_works(jail):
    model = Model()
    memory = await opened(jail, "code_rag", model)
    model.away = True
    await learn(memory, WON)
    assert "north tower 1" in await told(memory)
    model.away, model.patterns = False, []
    await learn(memory, LOST)  # none is an answer
    assert len(model.asked) == 3
    await learn(memory, LOST)
    assert len(model.asked) == 4
