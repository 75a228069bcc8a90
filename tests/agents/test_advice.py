"""Reading advice: any text can be read, and structure means the same however it is written."""

import json

from hypothesis import given
from hypothesis import strategies as st

from metamem.agents.advice import ReadAdvice, read_advice

GOAL = ("ring", "tower")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def ties(advice: ReadAdvice, word: str) -> dict[str, float]:
    return advice.notes.get(word, {})


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for block in read_advice(text, GOAL).blocks:
        assert block.clauses
        for clause in block.clauses:
            assert clause.spelling
            assert clause.lead in clause.words if clause.words else not clause.lead


@given(json_values)
def test_any_json_can_be_read_whole_or_cut_off(value: object) -> None:
    text = json.dumps(value, indent=1)
    for end in range(0, len(text) + 1, 7):
        read_advice(text[:end], GOAL)


def test_deeply_nested_json_is_no_trouble() -> None:
    read_advice("[" * 5000 + "]" * 5000, GOAL)


def test_the_same_relation_in_many_forms() -> None:
    forms = [
        "ring: cave, well",
        "- ring: cave, well",
        "ring:\n  - cave\n  - well",
        "## ring\ncave\nwell",
        "ring:\n- cave\n- well",
        json.dumps({"ring": ["cave", "well"]}),
        json.dumps({"places": {"ring": ["cave", "well"], "bell": ["loft"]}}, indent=1),
        "A ring is often in a cave or a well.",
    ]
    for form in forms:
        advice = read_advice(form, GOAL)
        assert ties(advice, "cave")["ring"] > 0, form
        assert 0 < ties(advice, "well")["ring"] <= ties(advice, "cave")["ring"], form
        assert not ties(advice, "loft"), form


def test_lines_without_a_word_of_the_goal_tie_nothing() -> None:
    assert read_advice("bell: cave\nThe well is deep.", GOAL).notes == {}


def test_plans_under_different_headings_are_followed_apart() -> None:
    advice = read_advice(
        json.dumps({"ring": ["enter cave", "grab ring"], "bell": ["climb loft", "ring it"]}), GOAL
    )
    assert [[c.lead for c in b.clauses] for b in advice.blocks] == [
        ["enter", "grab"],
        ["climb", "ring"],
    ]
    assert [b.heading for b in advice.blocks] == [("ring",), ("bell",)]


def test_steps_given_as_records_make_one_plan() -> None:
    records = json.dumps([{"action": "enter cave 2"}, {"action": "grab ring 1"}])
    (block,) = read_advice(records, GOAL).blocks
    assert [(c.lead, c.numbers) for c in block.clauses] == [("enter", ("2",)), ("grab", ("1",))]
