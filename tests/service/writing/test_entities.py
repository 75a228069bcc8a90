"""Names that stand out of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.writing.entities import LONGEST, MOST, entities, phrases


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The shop runs on PostgreSQL 16.", {"postgresql 16"}),
        ("Ada lives in Berlin", {"ada", "berlin"}),
        ("Yesterday Ada met Bob at Café Central in Vienna.", {"ada", "bob", "café central", "vienna"}),
        ("Ada's brother works for the University of Vienna", {"ada", "university of vienna"}),
        ("We fixed `parse_dates` in src/shop/dates.py", {"parse_dates", "src/shop/dates.py"}),
        ("ask @grace about OrderService.submit()", {"@grace", "orderservice.submit"}),
        ("it needs python v3.11.2 now", {"v3.11.2"}),
        ('the project is called "blue heron"', {"blue heron"}),
        ("closes SHOP-1234 and #77", {"shop-1234", "#77"}),
        ("see https://docs.example.org/a/b?c=d for more", {"docs.example.org"}),
        ("MAX_RETRIES is 5 and maxRetries too", {"max_retries", "maxretries"}),
        ("东京 is far from Wien", {"wien"}),
        ("вчера Анна поехала в Москву", {"анна", "москву"}),
        ("Ábel met Élise in Łódź", {"ábel", "élise", "łódź"}),
    ],
)  # fmt: skip
def test_names_are_found(text: str, names: set[str]) -> None:
    assert names <= set(entities(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the tests pass again",
        "Nothing happened. However, we waited. Then it worked.",
        "I think we should go on Monday in March",
        "Yes! No. Maybe?",
        "It costs 12 euros",
        "明日、東京に行きます。",
        "어제 병원에 갔어요.",
        "昨天我去了医院。",
        "это été über",
        "Switched to the other one",
    ],
)
def test_ordinary_words_are_no_names(text: str) -> None:
    assert entities(text) == ()


def test_names_that_were_given_come_first_and_are_folded() -> None:
    assert entities("Ada met Bob", ["  The Shop ", "ADA"])[:2] == ("the shop", "ada")


@given(st.text(max_size=400), st.lists(st.text(max_size=100), max_size=40))
def test_there_are_never_too_many_and_all_are_plain(text: str, known: list[str]) -> None:
    found = entities(text, known)
    assert len(found) <= MOST
    assert len(set(found)) == len(found)
    assert all(0 < len(name) <= LONGEST and name == name.strip() for name in found)
    assert all("\n" not in name and "\x00" not in name for name in found)


def test_phrases_are_what_a_scope_is_asked_for() -> None:
    assert {"blue heron", "heron", "ada"} <= set(phrases("we gave the blue heron to ada"))
    assert len(phrases("word " * 10_000)) < 300
