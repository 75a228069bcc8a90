"""Terms are counted by tables and numbers; what comes of it is what plain counting gives."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.knowledge import counting
from metamem.knowledge.counting import MOST_SAID, counted
from metamem.knowledge.languages import MARKDOWN, Language, language_of
from metamem.knowledge.pieces import Piece
from metamem.knowledge.words import (
    CALLS,
    CODE,
    KEYWORDS,
    NAME,
    PLACE,
    PROSE,
    SIGNATURE,
    STRINGS,
    headed,
    parted,
)

LANGUAGES = (language_of("a.py"), language_of("a.js"), MARKDOWN)
NAMES = "retryPayment retry_payment HTTPServer2 if def _ __x__ xY größe_x 日本"
NUMBERS = "9 0xFFab 1if 12else_x 9( 7up( ½ ²x é("
MARKS = "( () . = : \" ' \"\"\" ''' ` # // /* */ \\"
SPACED = (" ", "\n", "\t", "\0", " (", "  \t(", f"{' ' * 20}(", "\n(", "\f(")
WHOLE = ('"a b"', "# a note\n", '"call(me)" (', "// told\n", "/* over\nlines */", "def f(a, b):\n")
PARTS = st.sampled_from([*f"{NAMES} {NUMBERS} {MARKS}".split(), *SPACED, *WHOLE])
TEXTS = st.lists(PARTS | st.text(max_size=6), max_size=30).map("".join)
PIECES = st.lists(
    st.builds(
        Piece,
        st.sampled_from(["function", "class", "block"]),
        st.sampled_from(["", "retry_payment", "größe"]),
        st.sampled_from(["", "Client", "A.B"]),
        st.just(1),
        st.just(1),
        TEXTS,
    ),
    max_size=3,
)


def plainly(
    pieces: list[Piece], path: str, language: Language
) -> tuple[list[str], list[tuple[int, int, int]]]:
    """Each field of each piece by itself, token for token."""
    vocabulary: dict[str, int] = {}
    rows: dict[tuple[int, int], int] = {}
    for place, piece in enumerate(pieces):
        for field, tokens in fields(piece, path, language):
            for token in tokens:
                for term in parted(token):
                    number = vocabulary.setdefault(term, len(vocabulary))
                    row = (place, number * 8 + field)
                    rows[row] = rows.get(row, 0) + 1
    return list(vocabulary), [(*row, min(times, MOST_SAID)) for row, times in rows.items()]


def fields(piece: Piece, path: str, language: Language) -> Iterator[tuple[int, list[str]]]:
    yield NAME, re.findall(r"\w+", piece.name)
    yield PLACE, re.findall(r"[^\W\d]\w*", f"{path} {piece.within}")
    literals = counting._LITERALS.get(language.comments)
    if literals is None:
        yield PROSE, re.findall(r"\w+", piece.text)
        return
    head, body = headed(piece)
    apart: dict[bool, list[str]] = {True: [], False: []}

    def taken(match: re.Match[str]) -> str:
        text = match.group()
        apart[text.startswith(("#", "/", '"""', "'''"))].append(text)
        return " "

    code = re.findall(r"([^\W\d]\w*)([ \t]*\()?", literals.sub(taken, body))
    signature = re.findall(r"[^\W\d]\w*", literals.sub(taken, head))
    yield SIGNATURE, [name for name in signature if name not in KEYWORDS]
    yield CODE, [name for name, called in code if not called and name not in KEYWORDS]
    yield CALLS, [name for name, called in code if called and name not in KEYWORDS]
    yield STRINGS, re.findall(r"\w+", " ".join(apart[False]))
    yield PROSE, re.findall(r"\w+", " ".join(apart[True]))


@given(PIECES, st.sampled_from(LANGUAGES))
def test_terms_are_counted_as_token_for_token(pieces: list[Piece], language: Language) -> None:
    found = counted(pieces, "shop/pay_cards.py", language)
    rows = zip(found.places.tolist(), found.terms.tolist(), found.times.tolist(), strict=True)
    assert (found.vocabulary, list(rows)) == plainly(pieces, "shop/pay_cards.py", language)


def test_what_is_kept_from_file_to_file_is_bounded_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces = [Piece("block", "", "", 1, 1, f"name_{n} = call_{n % 7}(other)") for n in range(99)]
    first = counted(pieces, "a.py", LANGUAGES[0])
    monkeypatch.setattr(counting, "_MOST_KEPT", 10)
    again = counted(pieces, "a.py", LANGUAGES[0])
    assert again.vocabulary == first.vocabulary == plainly(pieces, "a.py", LANGUAGES[0])[0]
    assert again.terms.tolist() == first.terms.tolist()
    kept = counting._known()
    counted(pieces[:1], "a.py", LANGUAGES[0])
    assert counting._known() is not kept


def test_what_is_said_often_is_counted_up_to_a_bound() -> None:
    found = counted([Piece("block", "", "", 1, 1, "again " * 999)], "a.md", MARKDOWN)
    times = dict(zip((found.terms >> 3).tolist(), found.times.tolist(), strict=True))
    assert times[found.vocabulary.index(Counter(parted("again")).most_common(1)[0][0])] == MOST_SAID
