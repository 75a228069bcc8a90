"""The short ids that answers show are taken by every verb, and tell nobody of what they may not see."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metamem.core.access import Caller
from metamem.core.errors import UnknownName, UsageError
from metamem.service import database
from metamem.service.words import Ask, Change, Draft, Fact
from tests.service.access.world import World, world

End = "8b8710cf"
VERBS: list[Callable[[World, Caller, str], Any]] = [
    lambda w, c, f: w.service.get(c, f),
    lambda w, c, f: w.service.why(c, f),
    lambda w, c, f: w.service.history(c, f),
    lambda w, c, f: w.service.edit(c, f, Change(importance=0.9)),
    lambda w, c, f: w.service.forget(c, f),
    lambda w, c, f: w.service.restore(c, f),
]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        made.person("ada")
        made.person("bob")
        yield made


def test_what_a_briefing_and_a_recall_show_is_taken_by_every_verb(shop: World) -> None:
    scope, ada = shop.scope("ada", "shop"), shop.caller("ada")
    whole = shop.fact("ada", scope, "We deploy from the release branch.", type="decision")
    for text in (
        shop.service.briefing(ada, [scope]).text,
        shop.service.recall(ada, Ask("How do we deploy?", (scope,))).text,
    ):
        assert f", {whole[-8:]}] We deploy" in text
    ada = shop.caller("ada")
    for verb in VERBS:
        verb(shop, ada, whole[-8:])
    assert shop.service.get(ada, whole[:20]).id == whole
    (written,) = shop.service.remember(
        ada, scope, [Draft("We deploy from main.", supersedes=whole[-8:])]
    )
    assert written.superseded == (whole,)
    shop.service.flush()
    changed = {"edit", "forget", "restore", "get", "history"}
    entries = shop.service.administration.audit(shop.admin)
    assert {one.entry.target for one in entries if one.entry.verb in changed} == {whole}


@pytest.mark.parametrize("name", ["", "f", "8710cf", "%" * 8, "_" * 8, "' OR 1=1 --", "zzzzzzzz"])
def test_less_than_is_shown_names_nothing(shop: World, name: str) -> None:
    scope = shop.scope("ada", "shop")
    shop.fact("ada", scope, "We deploy from the release branch.")
    for verb in VERBS:
        with pytest.raises(UnknownName):
            verb(shop, shop.caller("ada"), name)


@pytest.fixture
def alike(shop: World, monkeypatch: pytest.MonkeyPatch) -> tuple[World, list[str], str, str]:
    """Two facts of one scope and one of another's, whose ids end alike."""
    numbers = iter(range(1, 100))

    def made(prefix: str) -> str:
        return f"{prefix}{next(numbers):019x}{End}"

    mine, hers = shop.scope("ada", "shop"), shop.scope("bob", "bank")
    for module in ("writing.remembering", "writing.ingesting"):
        monkeypatch.setattr(f"metamem.service.{module}.new_id", made)
    assert database.new_id("f") != made("f")
    two = [shop.fact("ada", mine, text) for text in ("The port is 5433.", "Lamps are in hall 3.")]
    other = shop.fact("bob", hers, "The vault opens at nine.")
    return shop, two, other, mine


def test_several_are_refused_with_the_choices(alike: tuple[World, list[str], str, str]) -> None:
    shop, two, other, _ = alike
    for verb in VERBS:
        with pytest.raises(UsageError, match="several") as refused:
            verb(shop, shop.caller("ada"), End)
        assert all(one in refused.value.hint for one in two)
        assert other not in refused.value.hint


def test_what_others_keep_makes_nothing_ambiguous(
    alike: tuple[World, list[str], str, str],
) -> None:
    shop, _, other, _ = alike
    found = shop.service.get(shop.caller("bob"), End)
    assert isinstance(found, Fact) and found.id == other
    for verb in VERBS:
        with pytest.raises(UnknownName):
            verb(shop, shop.caller("ada"), other[:-8])
