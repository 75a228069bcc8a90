"""The human designs that need no model: each does what its card says."""

import ast
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.agents.reader import Reader
from metamem.core.errors import DataError, UnknownName
from metamem.core.protocols import Seat
from metamem.core.tokens import count_tokens
from metamem.core.types import Experience, Message, Query, Step
from metamem.designs import library, text
from metamem.designs.jailed import Jail
from metamem.domains.alfworld.domain import AlfworldDomain
from tests.designs.running import advice
from tests.designs.samples import EPISODES, QUERIES, VIEW, failed, fetched
from tests.designs.scripted import NAMES as ASKING

NAMES = (
    "action_statistics",
    "line_search",
    "no_memory",
    "object_places",
    "success_retrieval",
    "trajectory_retrieval",
)
LANTERN, _, _ = QUERIES


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as running:
        yield running


def test_the_library_names_and_loads_them(tmp_path):
    assert library.names() == sorted((*NAMES, *ASKING))
    own = tmp_path / "mine.py"
    own.write_text(library.load("no_memory").source)
    assert library.load(own).id == library.load("no_memory").id
    assert library.load(own).name == "mine"
    with pytest.raises(UnknownName, match="object_places"):
        library.load("object_place")
    (tmp_path / "bad.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError):
        library.load(tmp_path / "bad.py")


@pytest.mark.parametrize("name", NAMES)
def test_every_design_has_a_card(name):
    card = ast.get_docstring(ast.parse(library.load(name).source)) or ""
    assert all(f"{word}: " in card for word in ("Stores", "Retrieves", "Forgets"))


@pytest.mark.parametrize("name", NAMES)
async def test_every_design_repeats_itself_and_starts_empty(jail, name):
    design = library.load(name)
    assert await advice(jail, design, episodes=()) == ["", "", ""]
    told = await advice(jail, design)
    assert told == await advice(jail, design)
    assert bool(told[0]) == (name != "no_memory")


async def test_trajectory_retrieval_tells_the_nearest_beginning_even_a_failure(jail):
    design = library.load("trajectory_retrieval")
    (told,) = await advice(jail, design, queries=(Query("bring a banner to the guard", VIEW),))
    assert "A similar task: bring a banner to the guard" in told
    assert "reward 0" in told and "> go to north tower 1" in told


async def test_trajectory_retrieval_is_silent_without_a_similar_beginning(jail):
    design = library.load("trajectory_retrieval")
    (told,) = await advice(jail, design, queries=(Query("xyzzy plugh", "fnord"),))
    assert told == ""


async def test_trajectory_retrieval_replaces_an_episode_with_the_same_beginning(jail):
    lost, won = failed("lantern", "south tower", "guard"), fetched("lantern", "mill", "guard")
    (told,) = await advice(
        jail, library.load("trajectory_retrieval"), (lost, won), (Query(won.goal, VIEW),)
    )
    assert "mill" in told and "south tower 1 holds" not in told


async def test_success_retrieval_keeps_the_shortest_success_without_idle_steps(jail):
    design = library.load("success_retrieval")
    short = fetched("lantern", "mill", "guard")
    long = fetched("lantern", "barn", "guard", detour=True)
    long = replace(long, steps=(Step("go to moat 1", "There is only water."), *long.steps))
    lost = replace(short, steps=short.steps[:1], reward=0.0)
    query = (Query(short.goal, VIEW),)
    (told,) = await advice(jail, design, (long, short, lost), query)
    assert told.endswith("1. go to mill 1\n2. grab lantern 1\n3. give lantern 1 to guard 1")
    (told,) = await advice(jail, design, (long,), query)
    assert "wait" not in told and "go to barn 1" in told
    (told,) = await advice(jail, design, (lost,), query)
    assert told == ""


async def test_action_statistics_prefers_what_won(jail):
    won = [fetched("lantern", "north tower", "guard")] * 3
    lost = [failed("lantern", "south tower", "guard")] * 3
    (told,) = await advice(
        jail, library.load("action_statistics"), (*won, *lost), (Query(won[0].goal, VIEW),)
    )
    first = told.split("\n")[1]
    assert "lantern" in first and "3 of them won" in first
    assert "south tower" not in told  # it was only ever in lost episodes


async def test_object_places_tells_where_a_thing_was_seen_most(jail):
    def look(place: str, seen: str) -> Experience:
        return Experience("tidy up", VIEW, (), (Step(f"visit {place} 3", f"Here: {seen}."),), 0.0)

    episodes = (
        look("attic", "a drum 1"),
        look("attic", "a drum 2"),
        look("vault", "a drum 1"),
        look("vault", "dust"),
    )
    (told,) = await advice(jail, library.load("object_places"), episodes, (Query("find the drum"),))
    assert told.endswith("drum: attic, vault")


async def test_line_search_tells_what_was_said_about_the_rare_words_of_the_question(jail):
    talk = Experience(
        messages=(
            Message("Ann", "I have a dog called Pim.", "1 May"),
            Message("Bo", "How nice, I have a cat.", "1 May"),
            Message("Ann", "It rains a lot today.", "2 May"),
        )
    )
    (told,) = await advice(
        jail, library.load("line_search"), (talk,), (Query("What is the name of Ann's dog?"),)
    )
    assert told.splitlines()[0] == "1 May, Ann: I have a dog called Pim."


async def test_they_learn_from_episodes_of_a_real_world(jail):
    domain, agent = AlfworldDomain("generated", train=12, valid=1, test=1, shift=1), Reader()
    tasks = domain.tasks("train")
    episodes = []
    for task in tasks[:8]:
        world, player = domain.world(task, 0), agent.start(Seat(task.goal, 0))
        seen = first = world.reset()
        steps = []
        while not seen.done and len(steps) < domain.max_steps:
            action = await player.act(seen)
            seen = world.step(action)
            steps.append(Step(action, seen.text, seen.actions, seen.reward, seen.done))
        episodes.append(Experience(task.goal, first.text, first.actions, tuple(steps), seen.reward))
    queries = []
    for task in tasks[8:]:
        first = domain.world(task, 0).reset()
        queries.append(Query(task.goal, first.text, first.actions))
    for name in ("trajectory_retrieval", "object_places"):
        told = await advice(jail, library.load(name), episodes, queries)
        assert any(told), name


# --- the helpers that designs share ----------------------------------------------------------


def test_text_helpers_on_plain_examples():
    assert text.kinds("give rope 2 to guard 1") == "give rope to guard"
    assert text.content_words("Bring the rope to the rope-maker") == ["bring", "rope", "maker"]
    assert text.objects("give rope 2 to guard 1") == ["rope", "guard"]
    pairs = text.substitutions("bring a rope to the guard", "bring a drum to the cook")
    assert pairs == {"rope": "drum", "guard": "cook"}
    assert text.substitute("grab rope, ropes stay", pairs) == "grab drum, ropes stay"
    assert text.substitute("a b", {"a": "b", "b": "a"}) == "b a"


@given(st.text(), st.integers(1, 30))
def test_capped_text_is_a_beginning_within_the_budget(value, tokens):
    capped = text.cap(value, tokens)
    assert value.startswith(capped)
    assert count_tokens(capped) <= tokens


@given(st.lists(st.text()), st.lists(st.text()))
def test_overlap_is_a_symmetric_share(left, right):
    assert text.overlap(left, right) == text.overlap(right, left)
    assert 0.0 <= text.overlap(left, right) <= 1.0
    assert text.overlap(left, left) == (1.0 if left else 0.0)


@given(st.text(), st.text())
def test_substitution_never_maps_a_word_that_both_have_at_the_same_place(one, other):
    pairs = text.substitutions(one, other)
    assert set(pairs) <= set(text.words(one))
    assert set(pairs.values()) <= set(text.words(other))
    assert text.substitutions(one, one) == {}


def test_samples_are_wins_and_losses():
    assert {episode.reward for episode in EPISODES} == {0.0, 1.0}
