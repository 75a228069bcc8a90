"""The rules that score a reply."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.tokens import count_tokens
from metamem.domains.dialogue.conversation import Conversation, Evidence, Question
from metamem.domains.dialogue.generator import generate
from metamem.domains.dialogue.scoring import coverage, score
from metamem.domains.dialogue.wording import content_words, holds

BUDGET = 200
TOWN = Question(
    "q",
    "updated",
    "Which town does Agnes live in?",
    "1 June 2024",
    ((Evidence("D2:1", "We signed the lease on Monday, so Porto is home now.", ("Porto",)),),),
    (("Porto",),),
    ("Ghent", "Leeds"),
)
WHEN = Question(
    "q",
    "temporal",
    "When did Agnes hear Milo in concert?",
    "1 June 2024",
    ((Evidence("D2:1", "I am just home from a concert, Milo played for hours.", ("Milo",)),),),
    (("3 May 2024",),),
    suffices=False,
)
SECRET = Question(
    "q",
    "forgotten",
    "What is Agnes's wifi password?",
    "1 June 2024",
    ((Evidence("D5:2", "Please forget what I said about my wifi password."),),),
    against=("bluecanoe",),
)


@cache
def conversations() -> tuple[Conversation, ...]:
    return tuple(generate(0, split, n) for split in ("train", "shift") for n in range(3))


questions = st.sampled_from([(c, q) for c in conversations() for q in c.questions])


def whole(conversation: Conversation) -> str:
    return "\n".join(line.text for s in conversation.sessions for line in s.lines)


@pytest.mark.parametrize(
    "written",
    [
        "3 May 2024",
        "3rd May, 2024",
        "the 3rd of May 2024",
        "May 3, 2024",
        "2024-05-03",
        "3 MAY 2024.",
    ],
)
def test_a_date_is_known_however_it_is_written(written: str) -> None:
    assert holds(f"It was on {written}", "3 May 2024")
    assert holds(written, "May 2024")
    assert not holds(written, "4 May 2024")
    assert not holds(written, "3")


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("She went three times!", "3 times"),
        ("twice", "two times"),
        ("the CAFÉ, of course", "the cafe"),
        ("1,250 people", "1250"),
        ("Clint Yeastwood's jar", "clint yeastwood"),
    ],
)
def test_case_accents_signs_and_number_words_do_not_matter(text: str, phrase: str) -> None:
    assert holds(text, phrase)


def test_phrases_end_at_words() -> None:
    assert not holds("Portofino", "Porto")
    assert not holds("13 times", "3 times")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Porto", 1.0),
        ("We signed the lease on Monday, so Porto is home now.", 1.0),
        ("As far as I was told, the town that Agnes lives in these days is Porto.", 1.0),
        ("Porto, and before that Ghent", 0.5),
        ("Leeds, then Ghent, then Porto", 0.25),
        ("Ghent", 0.0),
        ("", 0.0),
        ("The weather was fine all day.", 0.0),
    ],
)
def test_the_latest_value_counts_and_superseded_ones_count_against(
    reply: str, expected: float
) -> None:
    assert score(TOWN, reply, BUDGET) == expected


def test_a_bare_answer_among_many_words_is_worth_less_than_one_in_its_context() -> None:
    filler = "There was so much more to say about the weather and the garden that day."
    bare = score(TOWN, f"{filler} Porto. {filler}", BUDGET)
    assert 0 < bare < score(TOWN, f"{filler} Agnes lives in the town of Porto. {filler}", BUDGET)


def test_the_line_without_its_date_is_half_of_an_answer_to_when() -> None:
    line = WHEN.evidence[0][0].text
    assert score(WHEN, line, BUDGET) == 0.5
    assert score(WHEN, f"4 May 2024: {line}", BUDGET) == 0.5
    assert score(WHEN, f"3 May 2024: {line}", BUDGET) == 1.0


def test_what_was_withdrawn_must_not_be_told() -> None:
    assert score(SECRET, "", BUDGET) == 1.0
    assert score(SECRET, "I don't know.", BUDGET) > 0.95
    assert score(SECRET, SECRET.evidence[0][0].text, BUDGET) == 1.0
    assert score(SECRET, "It is bluecanoe.", BUDGET) == 0.0
    assert score(SECRET, "There was so much else to talk about that day, really.", BUDGET) < 1
    assert score(SECRET, "so much noise " * BUDGET, BUDGET) < 0.1


def test_a_line_with_another_value_is_no_evidence() -> None:
    evidence = TOWN.evidence[0][0]
    assert coverage(evidence, evidence.text) == 1.0
    assert coverage(evidence, evidence.text.replace("Porto", "Turin")) == 0.0


@given(questions, st.text(max_size=300))
def test_every_text_has_a_score_from_nought_to_one(
    asked: tuple[Conversation, Question], reply: str
) -> None:
    assert 0 <= score(asked[1], reply, BUDGET) <= 1


@given(questions)
def test_silence_earns_nothing_where_there_is_an_answer_and_all_where_there_is_none(
    asked: tuple[Conversation, Question],
) -> None:
    assert score(asked[1], "", BUDGET) == (0 if asked[1].answerable else 1)


@given(questions, st.data())
def test_more_evidence_never_earns_less(
    asked: tuple[Conversation, Question], data: st.DataObject
) -> None:
    question = asked[1]
    if not question.answerable:
        return
    lines = [group[0].text for group in question.evidence]
    more = data.draw(st.sets(st.integers(0, len(lines) - 1)))
    less = data.draw(st.sets(st.sampled_from(sorted(more)))) if more else set()
    few, many = ("\n".join(lines[n] for n in sorted(chosen)) for chosen in (less, more))
    assert score(question, few, BUDGET) <= score(question, many, BUDGET)


@given(questions, st.data())
def test_what_does_not_hold_never_helps(
    asked: tuple[Conversation, Question], data: st.DataObject
) -> None:
    conversation, question = asked
    if not question.against:
        return
    lines = [line.text for s in conversation.sessions for line in s.lines]
    told = "\n".join(data.draw(st.lists(st.sampled_from(lines), max_size=6)))
    wrong = f"{told}\n{data.draw(st.sampled_from(question.against))}"
    assert score(question, wrong, 10 * BUDGET) <= score(question, told, 10 * BUDGET)


@given(questions, st.text(alphabet="abc .\n", max_size=80))
def test_nothing_after_the_budget_plays_a_part(
    asked: tuple[Conversation, Question], more: str
) -> None:
    conversation, question = asked
    told = whole(conversation)
    assert count_tokens(told) > BUDGET
    assert score(question, f"{told}\n{more}", BUDGET) == score(question, told, BUDGET)


@given(questions)
def test_letters_may_be_capital_or_small(asked: tuple[Conversation, Question]) -> None:
    reply = "\n".join(e.text for group in asked[1].evidence for e in group)
    assert score(asked[1], reply.upper(), BUDGET) == score(asked[1], reply, BUDGET)


def test_telling_everything_does_not_win() -> None:
    told = [
        score(q, whole(c), BUDGET) for c in conversations() for q in c.questions if q.answerable
    ]
    assert sum(told) / len(told) < 0.15


def test_guessing_all_that_could_be_does_not_win() -> None:
    guessed = [
        score(q, "\n".join([*q.against, *q.answers[0]]), BUDGET)
        for c in conversations()
        for q in c.questions
        if q.answerable and q.kind not in ("repeated", "temporal")
    ]
    assert sum(guessed) / len(guessed) < 0.05


def test_words_that_carry_no_meaning_are_left_out() -> None:
    assert content_words("What is it that you have there? A boat!") == {"boat"}
