"""A fact that answers is found among distractors, by its terms, its meaning or its neighbours."""

import pytest

from tests.service.recall.scopes import shown, spoken

TALK = spoken(
    "Ana: Hi Tom, how was your week?",
    "Tom: Busy! I finally adopted a puppy called Biscuit last Saturday.",
    "Ana: How lovely. We went swimming in the lake.",
    "Tom: Sounds cold. The tram was late every single day here.",
    "Ana: My sister started a pottery course in Ghent.",
    "Tom: Good for her. I am reading about glaciers.",
    "Ana: Which instrument are you learning now?",
    "Tom: The cello, rather badly.",
    "Ana: 我昨天在公园看到一只熊猫。",
    "Tom: 天气很好。",
)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the name of Tom's puppy?", 1),
        ("When did Tom adopt a puppy?", 1),
        ("Where does Ana's sister do pottery?", 4),
        ("What is Tom reading about?", 5),
        ("熊猫在哪里?", 8),
    ],
)
def test_the_answer_comes_first(question: str, answer: int, dense: bool) -> None:
    assert shown(TALK, question, dense=dense)[0] == TALK[answer].text


def test_an_answer_is_found_by_the_question_before_it() -> None:
    assert TALK[7].text in shown(TALK, "Which instrument does Tom learn?")[:2]


def test_the_same_question_gives_the_same_answer() -> None:
    assert shown(TALK, "Who adopted a dog?") == shown(TALK, "Who adopted a dog?")
