"""What is recognised as a secret once is taken out of the rest of its session."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.writing.known import KnownSecrets
from tests.service.writing.planted import SECRETS


@pytest.mark.parametrize(("kind", "secret", "around"), SECRETS)
def test_a_secret_said_with_its_name_is_known_without_it(
    kind: str, secret: str, around: str
) -> None:
    known = KnownSecrets()
    bare = f"echo {secret} > there"
    assert known.out_of(bare) == bare  # nothing is known before
    known.learn(around.format(secret))
    assert secret not in known.out_of(bare)
    arguments = known.out_of_all({"command": bare, "more": [{"env": secret}, 3, None]})
    assert json.dumps(secret)[1:-1] not in json.dumps(arguments)
    assert arguments["more"][1:] == [3, None]


@pytest.mark.parametrize("word", ["admin", "postgres", "12345678", "password"])
def test_what_everybody_sets_takes_nothing_else_out(word: str) -> None:
    known = KnownSecrets()
    known.learn(f"DB_PASSWORD={word}")
    assert known.out_of(f"psql -h {word} table_{word}") == f"psql -h {word} table_{word}"


@given(st.text(max_size=300))
def test_where_nothing_is_known_texts_stay(text: str) -> None:
    assert KnownSecrets().out_of(text) == text


def test_a_secret_inside_a_longer_word_is_another_word() -> None:
    known = KnownSecrets()
    known.learn("DB_PASSWORD=hunter2x")
    assert known.out_of("hunter2xy ahunter2x") == "hunter2xy ahunter2x"
