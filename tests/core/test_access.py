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
        "acme/project/a~b",
        "acme/project/a~B~",
        "acme/project/a~61~",  # a plain sign, written oddly
        "acme/project/a~0fc~",
        "acme/project/a~2f~b",
        "acme/project/~110000~",
        "acme/project/" + "a" * 256,
        "ac~~me/project/webshop",
    ],
)
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="scope"):
        Scope.parse(text)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("webshop", "webshop"),
        ("ann@acme.com", "ann@acme.com"),
        ("github.com/acme/web", "github.com~~acme~~web"),
        ("jürgen", "j~fc~rgen"),
        ("my shop", "my~20~shop"),
        (".github", "~2e~github"),
        ("..", "~2e~."),
        ("/", "~~"),
        ("a~b", "a~7e~b"),
        ("ü/ö", "~fc~~~~f6~"),
        ("记忆", "~8bb0~~5fc6~"),
        ("a\n", "a~a~"),
    ],
)
def test_a_scope_can_be_called_anything(label: str, name: str) -> None:
    scope = Scope.of("acme", "project", label)
    assert (scope.name, scope.label) == (name, label)
    assert Scope.parse(f"acme/project/{name}") == scope


@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
def test_other_texts_are_other_scopes(one: str, other: str) -> None:
    scope = Scope.of("acme", "user", one)
    assert scope.label == one
    assert Scope.parse(str(scope)) == scope
    assert (scope == Scope.of("acme", "user", other)) == (one == other)


@given(st.text(alphabet="~0fcab./Z", min_size=1, max_size=12))
def test_every_name_is_how_its_label_is_written(name: str) -> None:
    try:
        scope = Scope("acme", "user", name)
    except UsageError:
        return
    assert Scope.of("acme", "user", scope.label) == scope


@given(names)
def test_a_plain_name_is_its_own_label(name: str) -> None:
    assert Scope.of("acme", "user", name) == Scope("acme", "user", name)


def test_what_cannot_be_called_so_is_refused() -> None:
    for label in ("", "x" * 256, "记" * 100, None, 7):
        with pytest.raises(UsageError, match="called"):
            Scope.of("acme", "user", label)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tenant", "who", "words"),
    [
        ("", "ann", "tenant"),
        (" ", "ann", "tenant"),
        ("acme/user", "ann", "tenant"),
        (None, "ann", "tenant"),
        ("acme", "", "without a name"),
        ("acme", " ", "without a name"),
        ("acme", None, "without a name"),
        ("acme", " ann", "who calls"),
        ("acme", "ann\nroot", "who calls"),
    ],
)
def test_a_caller_is_somebody_somewhere(tenant: str, who: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Caller(tenant, who)


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
