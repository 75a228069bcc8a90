"""Teams, visibility, and whoever owns the file."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from metamem.core.access import Caller, Scope
from metamem.core.errors import BadKey, Denied, UnknownName, UsageError
from metamem.service.access.rights import os_user
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft, Listing
from tests.service.access.world import World, world

SHOP = "acme/project/shop"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        for name in ("ada", "bob"):
            made.person(name)
        made.scope("ada", "shop", "shared")
        yield made


def rights(caller: Caller) -> tuple[bool, bool, bool]:
    held = (caller.reads, caller.writes, caller.manages)
    return tuple(any(str(scope) == SHOP for scope in each) for each in held)  # type: ignore[return-value]


def test_a_team_gives_its_members_what_it_may(here: World) -> None:
    administration = here.service.administration
    administration.add_person(here.admin, "crew", kind="team")
    administration.grant(here.caller("ada"), SHOP, "crew", "writer")
    assert rights(here.caller("bob")) == (False, False, False)
    assert administration.set_team(here.admin, "crew", ["bob", "bob"]).members == ("bob",)
    assert rights(here.caller("bob")) == (True, True, False)
    administration.grant(here.caller("ada"), SHOP, "bob", "reader")  # the wider of both counts
    assert rights(here.caller("bob")) == (True, True, False)
    administration.disable(here.admin, "crew")
    assert rights(here.caller("bob")) == (True, False, False)
    administration.enable(here.admin, "crew")
    administration.set_team(here.admin, "crew", [])
    assert rights(here.caller("bob")) == (True, False, False)


def test_teams_hold_no_teams_keys_or_roles(here: World) -> None:
    administration = here.service.administration
    for name in ("crew", "gang"):
        administration.add_person(here.admin, name, kind="team")
    with pytest.raises(UsageError):
        administration.set_team(here.admin, "crew", ["gang"])
    with pytest.raises(UsageError):
        administration.make_key(here.admin, "crew")
    with pytest.raises(UsageError):
        administration.set_role(here.admin, "crew", "admin")
    with pytest.raises(UnknownName):
        administration.set_team(here.admin, "crew", ["nobody"])
    with pytest.raises(UsageError):
        administration.set_team(here.admin, "ada", ["bob"])


def test_a_scope_made_private_again_closes_for_its_members(here: World) -> None:
    administration = here.service.administration
    administration.grant(here.caller("ada"), SHOP, "bob", "manager")
    assert rights(here.caller("bob")) == (True, True, True)
    administration.share(here.caller("ada"), SHOP, "private")
    assert rights(here.caller("bob")) == (False, False, False)
    with pytest.raises(UsageError, match="private"):
        administration.grant(here.caller("ada"), SHOP, "bob", "reader")
    administration.share(here.caller("ada"), SHOP, "public")
    assert rights(here.caller("bob")) == (True, True, True)


def test_names_are_taken_once_and_not_given_away(here: World) -> None:
    administration = here.service.administration
    with pytest.raises(UsageError):
        administration.add_person(here.admin, "ada")
    for name in ("", "a b", "a/b", "-x", "x" * 129, "a\n"):
        with pytest.raises(UsageError):
            administration.add_person(here.admin, name)
    with pytest.raises(Denied):
        administration.add_scope(here.caller("bob"), SHOP)
    with pytest.raises(Denied):
        administration.add_scope(here.caller("bob"), "rival/project/x")
    assert administration.add_scope(here.caller("ada"), SHOP).visibility == "shared"


def test_roles_change_at_once(here: World) -> None:
    administration = here.service.administration
    administration.set_role(here.admin, "bob", "admin")
    assert rights(here.caller("bob")) == (False, False, True)
    administration.disable(here.caller("bob"), "ada")
    with pytest.raises(BadKey):
        here.caller("ada")
    administration.set_role(here.admin, "bob", "member")
    with pytest.raises(Denied):
        administration.enable(here.caller("bob"), "ada")


def test_an_admin_who_wants_to_read_must_let_themselves_in(here: World) -> None:
    here.person("root", "admin")
    here.fact("ada", SHOP, "The cellar is full of old maps.")
    root = here.service.with_key(here.keys["root"])
    assert not root.recall(Ask("cellar")).items and not root.browse(Listing()).facts
    here.service.administration.grant(here.caller("root"), SHOP, "root", "reader")
    assert root.browse(Listing()).facts
    here.service.flush()
    found = here.service.administration.audit(here.caller("root"), limit=1000)
    assert ("grant", "root", "granted") in [
        (e.entry.verb, e.entry.target, e.entry.outcome) for e in found
    ]


def test_the_settings_of_a_scope_are_checked(here: World) -> None:
    administration, ada = here.service.administration, here.caller("ada")
    kept = administration.set_settings(ada, SHOP, {"most_facts": 5, "policy": {"half_life": 3}})
    assert kept.settings == {"most_facts": 5, "policy": {"half_life": 3}}
    for wrong in (
        {"most_facts": -1},
        {"most_facts": True},
        {"x": float("nan")},
        {"x": "y" * 20_000},
    ):
        with pytest.raises(UsageError):
            administration.set_settings(ada, SHOP, wrong)


# --- whoever owns the file ------------------------------------------------------------------


def test_the_owner_of_the_file_makes_scopes_by_writing(tmp_path: Path) -> None:
    service = MemoryService(tmp_path)
    me = service.local()
    assert me.caller.tenant == "local" and me.caller.who == os_user() and not me.caller.key
    with pytest.raises(Denied):
        me.recall(Ask("x", scopes=("local/project/new",)))
    me.remember("local/project/new", [Draft("The kettle is blue and old.")])
    assert me.browse(Listing(scopes=("local/project/new",))).facts
    with pytest.raises(Denied):
        me.remember("acme/project/shop", [Draft("This is not mine to write.")])
    me.erase("local/project/new", "done with it")
    assert not me.browse(Listing()).facts
    me.remember("local/project/new", [Draft("The kettle is green and new.")])
    assert [fact.text for fact in me.browse(Listing()).facts] == ["The kettle is green and new."]
    service.close()


def test_who_they_are_is_not_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os_user()
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    assert os_user() == before


def test_no_key_makes_anybody_the_owner(here: World) -> None:
    owner = here.service.local_caller()
    secret = here.service.administration.make_key(owner, rights=("read", "write", "manage")).secret
    keyed = here.service.doorkeeper.authenticate(secret)
    assert keyed.who == owner.who and "owner" not in keyed.roles
    with pytest.raises(Denied):
        here.service.with_key(secret).remember("local/project/new", [Draft("No such scope yet.")])


def test_in_other_tenants_the_owner_administers_and_reads_nothing(here: World) -> None:
    here.fact("ada", SHOP, "The cellar is full of old maps.")
    owner = here.service.local("acme")
    assert not owner.browse(Listing()).facts
    assert here.service.administration.members(owner.caller, SHOP) == []


def test_many_scopes_are_seen_at_once(tmp_path: Path) -> None:
    service = MemoryService(tmp_path)
    for number in range(1203):
        service.make_scope(Scope("local", "project" if number % 2 else "team", f"n{number}"))
    me = service.local()
    me.remember("local/project/n1201", [Draft("The kettle is blue and old.")])
    assert len(me.counts()["scopes"]) == 1203
    assert [fact.scope for fact in me.browse(Listing()).facts] == ["local/project/n1201"]
    service.close()


def test_a_scope_that_another_process_of_the_owner_just_made_is_theirs(tmp_path: Path) -> None:
    with closing(MemoryService(tmp_path)) as one, closing(MemoryService(tmp_path)) as other:
        before = one.local_caller()
        other.administration.add_scope(other.local_caller(), "local/project/shop")
        found = one.administration.add_scope(before, "local/project/shop")
        assert str(found.scope) == "local/project/shop" and found.owner == os_user()


def test_a_persons_own_scope_is_made_by_nobody_else(here: World) -> None:
    """Or its maker would read what that person takes for private."""
    administration = here.service.administration
    for name in ("acme/user/ada", "acme/user/Ada", "acme/user/who-comes-later"):
        with pytest.raises(Denied, match="no right to make"):
            administration.add_scope(here.caller("bob"), name, "shared")
    made = administration.add_scope(here.admin, "acme/user/ada")  # for her
    assert made.owner == "ada"
    assert Scope.parse("acme/user/ada") in here.caller("ada").writes
    with pytest.raises(UnknownName):
        here.person("anna", "admin")
        administration.add_scope(here.caller("anna"), "acme/user/who-comes-later")
    assert administration.add_scope(here.caller("bob"), "acme/user/bob").owner == "bob"


def test_whoever_owns_the_file_makes_a_persons_own_scope_for_them(tmp_path: Path) -> None:
    with closing(MemoryService(tmp_path)) as service:
        service.administration.add_person(service.local_caller(), "eve")
        key = service.administration.make_key(service.local_caller(), "eve").secret
        service.local().remember("local/user/eve", [Draft("Eve works in the Berlin office.")])
        assert service.with_key(key).recall(Ask("where does Eve work?")).items
        name = os_user()
        service.local().remember(f"local/user/{name}", [Draft("I work in the Paris office.")])
        entry = service.administration.add_scope(service.local_caller(), f"local/user/{name}")
        assert entry.owner == name
