"""Own conversations: sound, seeded, and different in the shift split."""

from collections import Counter
from datetime import datetime

import pytest

from metamem.domains.dialogue import away, home
from metamem.domains.dialogue.conversation import Conversation
from metamem.domains.dialogue.generator import generate
from metamem.domains.dialogue.scoring import holds, normal_words

CONVERSATIONS = tuple(generate(3, split, n) for split in ("test", "shift") for n in range(12))
each = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda c: c.id)


def lines(conversation: Conversation) -> dict[str, str]:
    return {line.id: line.text for s in conversation.sessions for line in s.lines}


def test_a_conversation_is_a_function_of_seed_split_and_number() -> None:
    assert generate(3, "test", 0) == CONVERSATIONS[0]
    others = [generate(4, "test", 0), generate(3, "valid", 0), generate(3, "test", 1)]
    assert all(other.sessions != CONVERSATIONS[0].sessions for other in others)


@each
def test_questions_of_every_kind_with_evidence_that_was_said(conversation: Conversation) -> None:
    kinds = Counter(q.kind for q in conversation.questions)
    assert kinds == {
        "single": 4,
        "updated": 4,
        "corrected": 2,
        "repeated": 2,
        "temporal": 3,
        "multi": 3,
        "forgotten": 2,
        "unknown": 1,
    }
    said = lines(conversation)
    for question in conversation.questions:
        assert bool(question.evidence) == (question.kind != "unknown")
        for evidence in (e for group in question.evidence for e in group):
            assert said[evidence.line] == evidence.text
            assert all(holds(evidence.text, phrase) for phrase in evidence.must)


@each
def test_evidence_is_said_once_and_holds_nothing_that_counts_against(
    conversation: Conversation,
) -> None:
    times = Counter(lines(conversation).values())
    for question in conversation.questions:
        for evidence in (e for group in question.evidence for e in group):
            assert times[evidence.text] == 1
            assert not any(holds(evidence.text, phrase) for phrase in question.against)


@each
def test_changes_corrections_and_withdrawals_come_after_what_they_change(
    conversation: Conversation,
) -> None:
    order = {line: place for place, line in enumerate(lines(conversation))}
    said = lines(conversation)
    for question in conversation.questions:
        if question.kind in ("updated", "corrected", "forgotten"):
            last = order[question.evidence[0][0].line]
            earlier = [n for n, text in said.items() if holds(text, question.against[0])]
            assert earlier
            assert all(order[n] < last for n in earlier)


@each
def test_answers_follow_from_what_was_said(conversation: Conversation) -> None:
    said_on = {line.id: s.date for s in conversation.sessions for line in s.lines}
    for question in conversation.questions:
        if question.kind == "repeated":
            assert question.answers[0] == (str(len(question.evidence)),)
        elif question.kind == "temporal":
            told = datetime.strptime(said_on[question.evidence[0][0].line], "%d %B %Y")
            happened = datetime.strptime(question.answers[0][0], "%d %B %Y")
            late = holds(question.evidence[0][0].text, "yesterday")
            assert (told - happened).days == late
        elif question.answerable:
            told_values = " | ".join(e.text for group in question.evidence for e in group)
            assert all(holds(told_values, phrase) for phrase in question.answers[0])


@each
def test_what_is_unknown_was_said_by_the_other_speaker_alone(conversation: Conversation) -> None:
    (asked,) = (q for q in conversation.questions if q.kind == "unknown")
    about = next(name for name in conversation.speakers if holds(asked.text, name))
    tellers = {
        line.speaker
        for s in conversation.sessions
        for line in s.lines
        if holds(line.text, asked.against[0])
    }
    assert tellers == set(conversation.speakers) - {about}


@each
def test_sessions_are_in_order_and_questions_come_last(conversation: Conversation) -> None:
    days = [datetime.strptime(s.date, "%d %B %Y") for s in conversation.sessions]
    assert days == sorted(set(days))
    assert all(datetime.strptime(q.date, "%d %B %Y") > days[-1] for q in conversation.questions)


@each
def test_most_lines_are_no_evidence(conversation: Conversation) -> None:
    needed = {e.line for q in conversation.questions for g in q.evidence for e in g}
    assert len(needed) < 0.3 * len(lines(conversation))


def test_the_shift_split_has_other_topics_and_longer_conversations() -> None:
    near, far = home.THEME, away.THEME
    for part in ("topics", "events", "kin"):
        keys = [{item.key for item in getattr(theme, part)} for theme in (near, far)]
        assert not keys[0] & keys[1]
    for part in ("names", "others", "relations", "chat"):
        assert not set(getattr(near, part)) & set(getattr(far, part))
    values = [{v for topic in theme.topics for v in topic.values} for theme in (near, far)]
    assert not values[0] & values[1]
    lengths = [
        [len(c.sessions) for c in CONVERSATIONS if c.id.startswith(split)]
        for split in ("test", "shift")
    ]
    assert max(lengths[0]) < min(lengths[1])


@pytest.mark.parametrize("theme", [home.THEME, away.THEME])
def test_there_are_too_many_values_to_guess_and_none_is_part_of_another(theme) -> None:
    for topic in theme.topics:
        words = [normal_words(value) for value in topic.values]
        assert len(set(words)) == len(words) >= 12
        assert not any(
            holds(one, other) for one in topic.values for other in topic.values if one != other
        )
