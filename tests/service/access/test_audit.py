"""The audit says what was done, by whom, and never what was said."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.core.errors import Denied, MetamemError, StoreError, TooMany, UnknownName, UsageError
from metamem.service.access import audit
from metamem.service.words import Ask, Change, Draft, Listing
from tests.service.access.world import World, world

SHOP = "acme/project/shop"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        made.person("ada")
        made.person("bob")
        made.person("vera", "auditor")
        made.scope("ada", "shop")
        yield made


def entries(here: World, who: str = "") -> list[audit.Entry]:
    here.service.flush()
    with here.service.database.reading() as execute:
        found = [each.entry for each in audit.read(execute, "acme", limit=1000)]
    return [entry for entry in found if not who or entry.who == who]


def test_it_matches_what_was_done(here: World) -> None:
    before = Counter((e.verb, e.outcome) for e in entries(here, "ada"))
    ada = here.service.with_key(here.keys["ada"])
    (fact, _) = ada.remember(SHOP, [Draft("The shop sells maps."), Draft("And globes of glass.")])
    for _ in range(3):
        ada.recall(Ask("maps"))
    ada.briefing([SHOP])
    ada.get(fact.id)
    ada.history(fact.id)
    ada.why(fact.id)
    ada.browse(Listing())
    ada.edit(fact.id, Change(importance=0.9))
    ada.forget(fact.id, "the secret reason")
    ada.restore(fact.id)
    list(ada.export())
    ada.counts()
    with pytest.raises(UnknownName):
        ada.get("f0")
    with pytest.raises(UsageError):
        ada.browse(Listing(limit=0))
    ada.erase(SHOP, "asked")
    done = Counter((e.verb, e.outcome) for e in entries(here, "ada")) - before
    assert done == Counter(
        {
            ("recall", "granted"): 3,
            ("get", "denied"): 1,
            ("browse", "refused"): 1,
            **{
                (verb, "granted"): 1
                for verb in (
                    *("remember", "briefing", "get", "history", "why", "browse", "edit"),
                    *("forget", "restore", "export", "counts", "erase"),
                )
            },
        }
    )


def test_denials_are_there_with_the_scope_that_was_asked_for(here: World) -> None:
    bob = here.service.with_key(here.keys["bob"])
    with pytest.raises(Denied):
        bob.recall(Ask("x", scopes=(SHOP,)))
    with pytest.raises(Denied):
        bob.erase(SHOP, "malice")
    with pytest.raises(Denied):
        here.service.administration.audit(here.caller("bob"))
    found = [(e.verb, e.scope, e.outcome) for e in entries(here, "bob")]
    assert found == [
        ("recall", SHOP, "denied"),
        ("erase", SHOP, "denied"),
        ("audit", "*", "denied"),
    ]
    assert all(e.key == here.keys["bob"].split("_")[1] for e in entries(here, "bob"))


def test_it_never_holds_content(here: World) -> None:
    word = "zanzibar"
    ada = here.service.with_key(here.keys["ada"])
    (written,) = ada.remember(SHOP, [Draft(f"A word is {word} here.")])
    ada.recall(Ask(word))
    ada.edit(written.id, Change(text=f"Another {word} text", reason=word))
    for call in (
        lambda: ada.get(f"{word} in a target"),
        lambda: ada.recall(Ask("x", scopes=(f"{word} is not a scope",))),
        lambda: ada.remember(f"a/b/{word} no", []),
        lambda: ada.why(f"{word}\n{word}"),
    ):
        with pytest.raises(MetamemError):
            call()
    assert word not in repr(entries(here))


def test_writes_are_entered_with_what_they_write(here: World) -> None:
    """Nothing is left for the background of what was written: it is in the same transaction."""
    ada = here.service.with_key(here.keys["ada"])
    ada.remember(SHOP, [Draft("The shop sells maps.")])
    with here.service.database.reading() as execute:
        found = [each.entry for each in audit.read(execute, "acme", limit=1000)]
    assert [e.verb for e in found if e.verb == "remember"] == ["remember"]


def test_auditors_and_admins_page_through_it(here: World) -> None:
    here.person("root", "admin")
    for _ in range(7):
        here.service.with_key(here.keys["ada"]).recall(Ask("x"))
    here.service.flush()
    for who in ("vera", "root"):
        seen: list[int] = []
        while page := here.service.administration.audit(
            here.caller(who), after=seen[-1] if seen else 0, limit=3
        ):
            seen += [each.seq for each in page]
            if len(page) < 3:
                break
        assert seen == sorted(set(seen)) and len(seen) >= 7
    with pytest.raises(UsageError):
        here.service.administration.audit(here.caller("vera"), limit=0)


def test_tenants_do_not_see_each_others(here: World) -> None:
    here.person("eve", "admin", "rival")
    here.service.flush()
    found = here.service.administration.audit(here.caller("eve"), limit=1000)
    assert {each.entry.tenant for each in found} == {"rival"}


def test_nobody_can_change_it(here: World) -> None:
    entries(here)
    for statement in ("DELETE FROM audit", "UPDATE audit SET who = 'x'"):
        with pytest.raises(StoreError), here.service.database.writing() as execute:
            execute(statement)


def test_limits_are_in_it(here: World) -> None:
    secret = here.service.administration.make_key(here.caller("ada"), per_minute=1).secret
    here.service.with_key(secret).recall(Ask("x"))
    with pytest.raises(TooMany):
        here.service.with_key(secret).recall(Ask("x"))
    mine = [e.outcome for e in entries(here) if e.key == secret.split("_")[1]]
    assert mine == ["granted", "limited"]


def test_what_could_not_be_written_waits(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = here.service.with_key(here.keys["ada"])
    before = len(entries(here, "ada"))
    with monkeypatch.context() as broken:

        def refuse(*_: object) -> None:
            raise StoreError("the disk is full")

        broken.setattr(audit, "write", refuse)
        ada.recall(Ask("x"))
        with pytest.raises(StoreError):
            here.service.flush()
    assert len(entries(here, "ada")) == before + 1
