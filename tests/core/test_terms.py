"""How texts become terms."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from metamem.core.stems import stem
from metamem.core.terms import terms, words


@given(st.text())
def test_terms_never_fail_and_case_and_composition_do_not_matter(text: str) -> None:
    found = terms(text)
    assert all(term and count > 0 for term, count in found.items())
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


@given(st.text(alphabet="abcdefghij '"))
def test_case_does_not_matter(text: str) -> None:
    assert terms(text.upper()) == terms(text)


@given(st.text(alphabet="中文字日本語韓國", min_size=2, max_size=12), st.data())
def test_every_pair_of_characters_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 2))
    assert terms(text[start : start + 2]).keys() <= terms(text).keys()


@given(st.lists(st.sampled_from(["river", "walked", "Ana", "7", "2023", "the"]), min_size=1))
def test_terms_of_a_text_are_those_of_its_parts(parts: list[str]) -> None:
    whole = terms(" ".join(parts))
    telling = [part for part in parts if part != "the"]
    assert set(whole) == {term for part in telling or ["the"] for term in terms(part)}


def test_forms_of_one_word_meet() -> None:
    for forms in (
        "walk walks walked walking",
        "go went gone",
        "buy bought",
        "child children",
        "city cities",
        "paint painting painted",
        "hike hiking hiked",
        "stop stopped stopping",
        "live lives lived living",
        "give gives gave given giving",
        "drive drives drove driving",
        "write writes wrote written",
        "use uses used using",
        "try tries tried trying",
    ):
        one = {term for form in forms.split() for term in terms(form)}
        assert len(one) == 1, (forms, one)


def test_other_words_do_not_meet() -> None:
    assert stem("bus") != stem("bush")
    assert stem("news") != stem("nest")
    assert stem("life") != stem("live")
    assert stem("sing") != stem("sin")


def test_contractions_and_accents() -> None:
    assert words("I don't, Ana's café won’t") == ["i", "not", "ana", "cafe", "not"]
    assert terms("Café") == terms("cafe")


def test_words_that_tell_nothing_stay_where_there_are_no_others() -> None:
    assert set(terms("to be or not to be"))
    assert "the" not in terms("the river")


def test_two_character_words_are_found_in_three_languages() -> None:
    assert "熊猫" in terms("我昨天看到一只熊猫。")
    assert "京都" in terms("昨日京都で寺を見た")
    assert "부산" in terms("할머니는 부산에 살아요")


def test_what_is_longer_than_any_word_is_cut() -> None:
    assert all(len(term) <= 64 for term in terms("x" * 10_000))
