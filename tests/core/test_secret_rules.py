"""What spares the search for secrets time never changes what is found."""

import base64

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core import secrets
from metamem.core.secret_rules import LONG, Rule, near, plain, rules
from metamem.core.secrets import redact

CODE = "def read(token, key_of, password=None):\n    return key_of[token] or 'a b', card, -1\n"
SHORTENED = [rule for rule in rules() if rule.after or rule.holds]
AROUND = st.sampled_from(
    ["", " ", "\n", "key: ", "x", "-", "'", "\tbot ", "é", "ı", "ſ", "İ", "\u212a"]
)
ADDRESS = "see postgres://shop:Sup3r_S3cret@db.example/x and https://a1B2c3D4e5F6g7H8i9J0@x.example"


def plainly(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Every rule on all of a text that has one of its words; or on the lines that have one, where a
    word need not stand in what the rule finds."""
    low = text.lower()
    found: list[tuple[str, str]] = []
    for rule in rules():
        if any(word in low for word in rule.near):
            by_lines = rule.one_line and not (rule.after and plain(text)) and len(low) == len(text)
            parts = text.split("\n") if by_lines else [text]
            text = "\n".join(
                secrets._without(rule, part, found)
                if not by_lines or any(word in part.lower() for word in rule.near)
                else part
                for part in parts
            )
    return secrets._RUN.sub(lambda run: secrets._decoded(run.group(), found), text), found


def same(text: str) -> None:
    for given_ in (text, CODE * 30 + text + "\n" + CODE):
        told = redact(given_)
        assert (told.text, list(told.found)) == plainly(given_)


@pytest.mark.parametrize("rule", SHORTENED, ids=lambda rule: f"{rule.kind}, {rule.near[0]}")
def test_what_a_rule_says_of_its_finds_leaves_none_out(rule: Rule) -> None:
    @settings(
        max_examples=25,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
        deadline=None,
    )
    @given(st.from_regex(rule.pattern), AROUND, AROUND, st.booleans())
    def check(found: str, before: str, behind: str, odd: bool) -> None:
        text = f"{before}{found}{behind}"
        same(text.replace("s", "ſ").replace("i", "ı") if odd else text)

    check()


@pytest.mark.parametrize(
    "text", [ADDRESS, ADDRESS.upper(), f"{ADDRESS} {ADDRESS}", CODE, "", "ſ", "İ"]
)
def test_texts_of_other_shapes_are_searched_the_same(text: str) -> None:
    same(text)


def test_secrets_in_odd_letters_leave_long_texts_too() -> None:
    for text in (
        "acceſſ_token = 'a1B2c3D4e5F6g7'",
        "to\u212aen_ıd = a1B2c3D4e5F6g7",
        "İ token=a1B2c3D4e5F6",
    ):
        assert len(redact(text).found) == 1
        same(text)


@given(
    st.lists(st.sampled_from([w for rule in rules() for w in rule.near] + ["\n", "x", "é", "7"]))
)
def test_no_word_of_a_rule_is_overlooked_in_a_long_text(words: list[str]) -> None:
    text = "".join(words)
    long = CODE.lower() * (1 + LONG // len(CODE)) + text
    maybe = near(long)
    for number, rule in enumerate(rules()):
        assert all(word in maybe.get(number, ()) for word in rule.near if word in long)


@given(st.text(alphabet="aZ9+/=_%- \né日\ud800", max_size=200), st.integers(0, 30))
def test_runs_in_a_long_text_are_those_of_the_pattern(text: str, more: int) -> None:
    text = (text + "A" * more) * 3
    assert list(secrets._runs(text)) == [found.span() for found in secrets._RUN.finditer(text)]


@given(st.binary(min_size=12, max_size=60), st.booleans())
def test_nothing_readable_is_passed_over(content: bytes, plain: bool) -> None:
    given_ = bytes(byte & 127 for byte in content) if plain else content
    for run in (base64.b64encode(given_), base64.urlsafe_b64encode(given_), given_.hex().encode()):
        for written in (run.decode(), run.decode().rstrip("=")):
            if given_.isascii() and len(written) >= 24:
                assert secrets._READABLE.match(written)
