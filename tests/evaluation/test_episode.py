"""One episode: who is asked when, what is capped, what is counted as used."""

from hypothesis import given
from hypothesis import strategies as st

from metamem.agents.random_agent import RandomAgent
from metamem.core.episode import cap_advice, play
from metamem.core.protocols import Seat
from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.core.types import Advice
from metamem.domains.toy import ToyDomain


async def played(ask, **rules):
    domain = ToyDomain()
    task = domain.tasks("valid")[0]
    rules = {"max_steps": 4, "advice_tokens": 50, **rules}
    return await play(
        task, domain.world(task, 1), RandomAgent().start(Seat(task.goal, 1)), ask, **rules
    )


async def test_memory_is_asked_once_before_the_first_action():
    queries = []

    async def ask(query):
        queries.append(query)
        return "nothing new"

    episode = await played(ask)
    assert len(queries) == len(episode.advice) == 1
    assert queries[0].steps == ()
    assert queries[0].goal == episode.goal


async def test_memory_is_asked_again_while_acting_where_wished():
    queries = []

    async def ask(query):
        queries.append(query)
        return ""

    episode = await played(ask, ask_every=1)
    assert [len(q.steps) for q in queries] == list(range(len(episode.steps)))
    # A query holds only what the agent has seen at that moment.
    assert all(q.steps == episode.steps[: len(q.steps)] for q in queries)


async def test_the_step_limit_holds():
    assert len((await played(None, max_steps=2)).steps) <= 2


def test_structures_are_shown_as_text_and_emptiness_as_nothing():
    assert cap_advice({"door": ["red"]}, 50).text.split() == [
        "{",
        '"door":',
        "[",
        '"red"',
        "]",
        "}",
    ]
    assert (
        cap_advice({}, 50) == cap_advice(None, 50) == cap_advice("  ", 50) == Advice("", 0, False)
    )


@given(st.text(max_size=300), st.integers(1, 40))
def test_a_cap_is_never_exceeded_and_cuts_only_what_is_too_long(text, limit):
    cut, count, truncated = truncate_tokens(text, limit)
    assert count == count_tokens(cut) <= limit
    assert text.startswith(cut)
    assert truncated == (count_tokens(text) > limit)
    assert truncated or cut == text
