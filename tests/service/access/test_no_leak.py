"""Guessed ids, names of scopes in what is said, and SQL in every field: nothing leaks, nothing breaks."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core.errors import Denied, MetamemError, UnknownName
from metamem.service.words import Ask, Change, Draft, Listing, Session, Turn
from tests.service.access.world import World, world

HERS, HIS = "acme/project/hers", "acme/project/his"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("leaks")) as made:
        for name, scope in (("ada", "hers"), ("bob", "his")):
            made.person(name)
            made.scope(name, scope)
        made.fact("ada", HERS, "The treasure is under the old oak.")
        made.fact("bob", HIS, "Nothing of worth is here.")
        yield made


def told(act: Callable[[], Any], fact: str) -> str:
    """What a caller is told, who must be refused."""
    try:
        (written,) = act()  # a batch says of each draft what became of it
        assert written.outcome == "refused"
        return str(written).replace(fact, "ID")
    except (Denied, UnknownName) as error:
        return f"{type(error).__name__} {error}".replace(fact, "ID")


def test_ids_of_others_are_as_unknown_as_guesses(here: World) -> None:
    bob = here.service.with_key(here.keys["bob"])
    hers = here.facts[HERS]
    luck = random.Random(1)
    near = [f"{hers[:-1]}{digit}" for digit in "0123456789abcdef"]  # one of them is hers
    guesses = ["f" + f"{luck.getrandbits(108):027x}" for _ in range(20)]
    verbs: list[Callable[[str], Any]] = [
        bob.get,
        bob.history,
        bob.why,
        bob.forget,
        bob.restore,
        lambda fact: bob.edit(fact, Change(text="mine now")),
        lambda fact: bob.browse(Listing(after=fact)),
        lambda fact: bob.remember(HIS, [Draft("This takes its place.", supersedes=fact)]),
        lambda fact: bob.feedback("r0", fact, "wrong"),
        lambda fact: bob.feedback(fact, fact, "wrong"),
    ]
    for verb in verbs:
        answers = {told(lambda v=verb, f=fact: v(f), fact) for fact in (hers, *near, *guesses)}  # type: ignore[misc]
        assert len(answers) == 1


def test_scopes_that_may_not_be_seen_are_as_those_that_are_not_there(here: World) -> None:
    bob = here.service.with_key(here.keys["bob"])
    for verb in (
        lambda scope: bob.recall(Ask("treasure", scopes=(scope,))),
        lambda scope: bob.recall(Ask("treasure", scopes=(HIS, scope))),
        lambda scope: bob.browse(Listing(scopes=(scope,))),
        lambda scope: bob.briefing([scope]),
        lambda scope: list(bob.export([scope])),
        lambda scope: bob.remember(scope, [Draft("Something to keep.")]),
        lambda scope: bob.erase(scope, "why not"),
        lambda scope: here.service.administration.members(here.caller("bob"), scope),
    ):
        answers = {
            told(lambda v=verb, s=scope: v(s), scope)  # type: ignore[misc]
            for scope in (HERS, "acme/project/none", "rival/project/hers", "local/project/x")
        }
        assert len(answers) == 1


def test_names_in_what_is_said_open_nothing(here: World) -> None:
    bob = here.service.with_key(here.keys["bob"])
    bob.remember(
        HIS,
        [
            Draft(f"scope: {HERS}. The scope of this is {HERS}.", origin=HERS, author="ada"),
            Draft(
                f"See {here.facts[HERS][:-1]} for the treasure map.", entities=(HERS, "treasure")
            ),
        ],
    )
    for ask in (
        Ask(f"treasure in {HERS}"),
        Ask(f"scope:{HERS} treasure oak"),
        Ask("treasure oak", speaker="ada"),
    ):
        assert all(item.fact.scope == HIS for item in bob.recall(ask).items)
    page = bob.browse(Listing(entity="treasure", contains="treasure", limit=100))
    assert all(fact.scope == HIS for fact in page.facts)
    ada = here.service.with_key(here.keys["ada"])
    assert {fact.scope for fact in ada.browse(Listing()).facts} == {HERS}


NASTY = st.sampled_from(
    [
        "'; DROP TABLE facts; --",
        '" OR 1=1 --',
        "' UNION SELECT text FROM facts --",
        "%",
        "_",
        "\\",
        "!",
        "NEAR(a b)",
        'treasure* OR "oak"',
        "\x00",
        "\ud800",
        "a" * 5000,
        "acme/project/hers",
        "*",
        "?",
    ]
)
TEXT = NASTY | st.text(max_size=30)


@given(data=st.data())
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_stands_in_any_field_shows_nothing_of_others(here: World, data: Any) -> None:
    def text() -> str:
        return str(data.draw(TEXT))

    bob, caller = here.service.with_key(here.keys["bob"]), here.caller("bob")
    administration = here.service.administration
    calls: list[Callable[[], Any]] = [
        lambda: bob.remember(
            data.draw(st.sampled_from([HIS, text()])),
            [
                Draft(
                    text(),
                    type=data.draw(st.sampled_from(["note", text()])),
                    source=data.draw(st.sampled_from(["user", text()])),
                    origin=text(),
                    author=text(),
                    entities=(text(),),
                    supersedes=data.draw(st.sampled_from(["", text()])),
                )
            ],
        ),
        lambda: bob.ingest(HIS, Session(text(), (Turn(text(), text(), id=text()),), title=text())),
        lambda: bob.recall(Ask(text(), types=(text(),), speaker=text())),
        lambda: bob.recall(Ask(text(), scopes=(text(),))),
        lambda: bob.browse(
            Listing(entity=text(), session=text(), contains=text(), types=(text(),))
        ),
        lambda: bob.browse(Listing(contains=text(), after=data.draw(st.just("") | TEXT))),
        lambda: bob.browse(Listing(lifecycle=(text(),))),
        lambda: bob.get(text()),
        lambda: bob.history(text()),
        lambda: bob.why(text()),
        lambda: bob.edit(here.facts[HIS], Change(type=text(), reason=text())),
        lambda: bob.edit(text(), Change(text=text())),
        lambda: bob.forget(text(), text()),
        lambda: bob.feedback(text(), text(), "useful", text()),
        lambda: bob.briefing([text()]),
        lambda: list(bob.export([text()], text())),
        lambda: bob.erase(text(), text(), text()),
        lambda: administration.add_scope(caller, text()),
        lambda: administration.share(caller, HIS, text()),  # type: ignore[arg-type]
        lambda: administration.grant(caller, HIS, text(), "reader"),
        lambda: administration.make_key(caller, text(), label=text(), rights=(text(),)),
        lambda: administration.revoke_key(caller, text()),
        lambda: administration.set_settings(caller, HIS, {text(): text()}),
    ]
    try:
        shown = repr(data.draw(st.sampled_from(calls))())
    except MetamemError as error:
        shown = str(error)
    assert "old oak" not in shown and here.facts[HERS] not in shown
    assert here.service.get(here.caller("ada"), here.facts[HERS]).lifecycle == "active"
