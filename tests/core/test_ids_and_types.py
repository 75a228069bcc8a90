"""Names and seeds follow from content; what a memory may see survives the wire."""

import json

from hypothesis import given
from hypothesis import strategies as st

from metamem.core.ids import content_id, derive_seed
from metamem.core.types import (
    CaseResult,
    Design,
    Episode,
    Evaluation,
    Experience,
    Fingerprint,
    Message,
    Query,
    Step,
)

texts = st.text(max_size=30)
rewards = st.floats(0, 1)
steps = st.builds(
    Step, texts, texts, st.lists(texts, max_size=3).map(tuple), rewards, st.booleans()
)


def test_a_design_is_named_by_its_content_alone():
    a, b = Design("x = 1", name="one"), Design("x = 1", name="other")
    assert a.id == b.id and a == b
    assert a.id != Design("x = 2").id
    assert a.id != Design("x = 1", kind="params").id
    assert len(a.id) == 32


@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
def test_ids_and_seeds_separate_what_differs(a, b):
    assert (content_id(*a) == content_id(*b)) == (a == b)
    assert (derive_seed(*a) == derive_seed(*b)) == (a == b)
    assert 0 <= derive_seed(*a) < 2**63


@given(st.builds(Experience, texts, texts, st.lists(texts, max_size=3).map(tuple),
                 st.lists(steps, max_size=3).map(tuple), rewards,
                 st.lists(st.builds(Message, texts, texts, texts), max_size=2).map(tuple)))  # fmt: skip
def test_experiences_survive_the_wire(experience):
    assert Experience.from_json(json.loads(json.dumps(experience.to_json()))) == experience


@given(st.builds(Query, texts, texts, st.lists(texts, max_size=3).map(tuple),
                 st.lists(steps, max_size=3).map(tuple)))  # fmt: skip
def test_queries_survive_the_wire(query):
    assert Query.from_json(json.loads(json.dumps(query.to_json()))) == query


def test_memory_never_sees_the_task_id_or_the_advice_it_gave():
    episode = Episode("secret-task", "goal", "first", (), (Step("a", "b"),), 1.0)
    assert "secret-task" not in json.dumps(episode.experience().to_json())
    assert Episode.from_json(json.loads(json.dumps(episode.to_json()))) == episode


def fingerprint(**changes):
    given = {
        "design": "d",
        "domain": "toy",
        "data_version": "1",
        "split": "test",
        "rules": {"repeats": 2},
        "agent": "a",
        "models": {},
        "embedder": "e",
        "toolbox": "1",
        "limits": {},
        "seed": 0,
    }
    return Fingerprint(**(given | changes))


def test_conditions_are_all_but_the_design():
    base = fingerprint()
    assert base.conditions == fingerprint(design="other").conditions
    assert base.id != fingerprint(design="other").id
    for change in ({"seed": 1}, {"split": "valid"}, {"rules": {"repeats": 3}}, {"agent": "b"}):
        assert base.conditions != fingerprint(**change).conditions
    assert Fingerprint.from_json(json.loads(json.dumps(base.to_json()))).id == base.id


def test_the_task_is_the_unit_its_repeats_are_averaged():
    rows = (CaseResult("a", 0, 1.0, 3), CaseResult("a", 1, 0.0, 3), CaseResult("b", 0, 1.0, 2))
    evaluation = Evaluation(fingerprint(), rows, planned=4)
    assert evaluation.by_task() == {"a": 0.5, "b": 1.0}
    assert evaluation.reward == 0.75
    assert not evaluation.complete
