"""Scopes have one text each, and a caller may do nothing that it was not given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.access import Caller, Scope
from metamem.core.errors import UsageError

SHOP = Scope("acme", "project", "webshop")
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,20}", fullmatch=True)
scopes = st.builds(Scope, names, st.sampled_from(["user", "project", "team"]), names)


@given(scopes, scopes)
def test_a_scope_and_its_text_are_one(one: Scope, other: Scope) -> None:
    assert Scope.parse(str(one)) == one
    assert (str(one) == str(other)) == (one == other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "acme",
        "acme/project",
        "acme/project/",
        "/project/webshop",
        "acme/project/web/shop",
        "acme/Project/webshop",
        "acme/project/../other",
        "acme/project/web shop",
        "acme/project/webshop\n",
        "acme/project/*",
        "acme/project/ẅebshop",
    ],
)
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="scope"):
        Scope.parse(text)


def test_a_caller_has_no_rights_by_default() -> None:
    nobody = Caller("acme", "ann")
    assert not nobody.may_read(SHOP)
    assert not nobody.may_write(SHOP)
    admin = Caller("acme", "ann", roles=frozenset({"admin"}))
    assert not admin.may_read(SHOP)  # a role is a name; what it allows was written into the rights


def test_reading_and_writing_are_given_apart() -> None:
    reader = Caller("acme", "ann", reads=frozenset({SHOP}))
    assert reader.may_read(SHOP)
    assert not reader.may_write(SHOP)
    writer = Caller("acme", "bot", writes=frozenset({SHOP}))
    assert writer.may_write(SHOP)
    assert not writer.may_read(SHOP)
    assert not reader.may_read(Scope("acme", "user", "webshop"))


def test_no_caller_has_rights_in_another_tenant() -> None:
    with pytest.raises(UsageError, match="other/project/webshop"):
        Caller("acme", "ann", reads=frozenset({Scope("other", "project", "webshop")}))
    with pytest.raises(UsageError, match="without a name"):
        Caller("acme", "")


def test_neither_can_be_changed() -> None:
    with pytest.raises(AttributeError):
        SHOP.tenant = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Caller("acme", "ann").reads = frozenset({SHOP})  # type: ignore[misc]
