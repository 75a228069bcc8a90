"""The access matrix: every verb × who × their relation to the scope, with what must come of it.

The table of rights is written down here, apart from the code that it tests.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from metamem.core.access import Caller
from metamem.core.errors import BadKey, DataError, Denied, UnknownName, UsageError
from metamem.routing.words import Outcome
from metamem.service.administration import Administration
from metamem.service.bound import Bound
from metamem.service.contract import Memories
from metamem.service.database import now_ms
from metamem.service.routing.words import Contender
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Change, Draft, Listing, Session, ToolCall, Turn
from tests.service.access.world import World, world

R, W, M = "read", "write", "manage"
NONE: frozenset[str] = frozenset()
DEAD = ("disabled", "expired", "revoked")  # whose keys open nothing
PEOPLE = ("nobody", "reader", "writer", "manager", "admin", "auditor", *DEAD, "stranger")
RELATIONS = ("own", "private", "shared", "public", "erased")

# What each may do in a scope of somebody else. They are members of all of these scopes where their
# name is that of a role in a scope, of the private one as well: there it must not count.
RIGHTS: dict[tuple[str, str], frozenset[str]] = {
    **{(who, "erased"): NONE for who in PEOPLE},
    **{(who, "private"): NONE for who in PEOPLE},
    **{(who, "own"): frozenset({R, W, M}) for who in PEOPLE},
    **{(who, "shared"): NONE for who in PEOPLE},
    **{(who, "public"): frozenset({R}) for who in PEOPLE},
    ("reader", "shared"): frozenset({R}),
    ("writer", "shared"): frozenset({R, W}),
    ("manager", "shared"): frozenset({R, W, M}),
    ("writer", "public"): frozenset({R, W}),
    ("manager", "public"): frozenset({R, W, M}),
    ("admin", "private"): frozenset({M}),
    ("admin", "shared"): frozenset({M}),
    ("admin", "public"): frozenset({R, M}),
    ("stranger", "public"): NONE,
}


FORGOTTEN: dict[str, str] = {}  # a fact of each scope that is archived
ROUTED: dict[str, str] = {}  # a decision of each scope's router
ARMS = (Contender("one"), Contender("other"))


def fill(made: World, who: str, scope: str) -> None:
    FORGOTTEN[scope] = made.fact(who, scope, f"An old story of {scope}")
    made.service.forget(made.caller(who), FORGOTTEN[scope])
    made.fact(who, scope, f"The secret of {scope} is kept")
    routed = made.service.routing.route(made.caller(who), scope, "a task", ARMS)
    ROUTED[scope] = routed.decision


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("matrix")) as made:
        made.person("boss")
        for who in PEOPLE:
            role = who if who in ("admin", "auditor") else "member"
            tenant = "rival" if who == "stranger" else "acme"
            made.person(who, role, tenant)
            made.scope(who, f"own-{who}")
            fill(made, who, f"{tenant}/project/own-{who}")
        administration = made.service.administration
        for relation in ("private", "shared", "public", "erased"):
            scope = made.scope("boss", relation, "shared")
            for role in ("reader", "writer", "manager"):
                administration.grant(made.caller("boss"), scope, role, role)  # type: ignore[arg-type]
            fill(made, "boss", scope)
            if relation in ("private", "public"):
                administration.share(made.caller("boss"), scope, relation)  # type: ignore[arg-type]
        made.service.erase(made.caller("boss"), "acme/project/erased", "for the matrix")
        administration.disable(made.admin, "disabled")
        administration.revoke_key(made.admin, made.keys["revoked"].split("_")[1])
        with made.service.database.writing() as execute:
            execute(
                "UPDATE api_keys SET expires_at = ? WHERE id = ?",
                (now_ms() - 1, made.keys["expired"].split("_")[1]),
            )
        made.service.doorkeeper.forget()
        yield made


def scope_of(who: str, relation: str) -> str:
    if relation == "own":
        return f"{'rival' if who == 'stranger' else 'acme'}/project/own-{who}"
    return f"acme/project/{relation}"


Verb = Callable[[MemoryService, Caller, str, str], Any]  # of a scope and a fact in it
_counter = iter(range(10**9))


def forget_and_restore(service: MemoryService, caller: Caller, scope: str, fact: str) -> None:
    service.forget(caller, fact, "for the matrix")
    service.restore(caller, fact, "for the matrix")


def restore_and_forget(service: MemoryService, caller: Caller, scope: str, fact: str) -> None:
    service.restore(caller, FORGOTTEN[scope], "for the matrix")
    service.forget(caller, FORGOTTEN[scope], "for the matrix")


def visibility(scope: str) -> Any:
    name = scope.rpartition("/")[2]
    return name if name in ("shared", "public") else "private"


def grant_and_take(service: MemoryService, caller: Caller, scope: str, fact: str) -> None:
    name = scope.rpartition("/")[2]
    owner = name.removeprefix("own-") if name.startswith("own-") else "boss"
    service.administration.grant(caller, scope, owner, "reader")
    service.administration.ungrant(caller, scope, owner)


def ingest(service: MemoryService, caller: Caller, scope: str, fact: str) -> None:
    turn = Turn("ada", f"The harbour opened at {next(_counter)} again today")
    service.ingest(caller, scope, Session(f"s{next(_counter)}", (turn,)))


def keep_calls(service: MemoryService, caller: Caller, scope: str, fact: str) -> None:
    call = ToolCall(f"c{next(_counter)}", "Bash", {"command": "make harbour"})
    service.keep_calls(caller, scope, Session(f"s{next(_counter)}", ()), [call])


def judge_routing(service: MemoryService, caller: Caller, scope: str, fact: str) -> None:
    """Who may see its log is told that it says too little."""
    try:
        service.routing.judge(caller, scope)
    except (Denied, UnknownName):
        raise
    except (UsageError, DataError):
        pass


def evaluate(service: MemoryService, caller: Caller, scope: str, fact: str) -> None:
    """Feedback on a recall of one's own."""
    found = service.recall(caller, Ask("secret", scopes=(scope,), floor=0.0))
    service.feedback(caller, found.id, fact, "useful")


NAMED: dict[str, tuple[frozenset[str], Verb]] = {
    # Verbs that name a scope or a fact: the rights that they take, and a call that can be repeated.
    "remember": (
        frozenset({W}),
        lambda s, c, scope, f: s.remember(c, scope, [Draft(f"Delivery {next(_counter)} came")]),
    ),
    "ingest": (frozenset({W}), ingest),
    "keep_calls": (frozenset({W}), keep_calls),
    "route": (frozenset({W}), lambda s, c, scope, f: s.routing.route(c, scope, "a task", ARMS)),
    "reward": (
        frozenset({W}),
        lambda s, c, scope, f: s.routing.reward(c, ROUTED[scope], Outcome(1.0)),
    ),
    "why_route": (frozenset({R}), lambda s, c, scope, f: s.routing.explain(c, ROUTED[scope])),
    "routing": (frozenset({R}), lambda s, c, scope, f: s.routing.standing(c, scope)),
    "judge_routing": (frozenset({R}), judge_routing),
    "read_export": (
        frozenset({W}),
        lambda s, c, scope, f: s.read_export(c, scope, s.export(s.local_caller())),
    ),
    "recall": (frozenset({R}), lambda s, c, scope, f: s.recall(c, Ask("x", scopes=(scope,)))),
    "briefing": (frozenset({R}), lambda s, c, scope, f: s.briefing(c, [scope])),
    "feedback": (frozenset({R}), evaluate),
    "browse": (frozenset({R}), lambda s, c, scope, f: s.browse(c, Listing(scopes=(scope,)))),
    "export": (frozenset({R}), lambda s, c, scope, f: list(s.export(c, [scope]))),
    "get": (frozenset({R}), lambda s, c, scope, f: s.get(c, f)),
    "history": (frozenset({R}), lambda s, c, scope, f: s.history(c, f)),
    "why": (frozenset({R}), lambda s, c, scope, f: s.why(c, f)),
    "after": (frozenset({R}), lambda s, c, scope, f: s.browse(c, Listing(after=f))),
    "edit": (
        frozenset({R, W}),
        lambda s, c, scope, f: s.edit(c, f, Change(importance=next(_counter) % 997 / 1000)),
    ),
    "forget": (frozenset({R, W}), forget_and_restore),
    "restore": (frozenset({R, W}), restore_and_forget),
    "erase": (frozenset({M}), lambda s, c, scope, f: s.erase(c, scope, "none", person="-")),
    "members": (frozenset({M}), lambda s, c, scope, f: s.administration.members(c, scope)),
    "grant": (frozenset({M}), grant_and_take),
    "set_settings": (
        frozenset({M}),
        lambda s, c, scope, f: s.administration.set_settings(c, scope, {}),
    ),
    "share": (
        frozenset({M}),
        lambda s, c, scope, f: s.administration.share(c, scope, visibility(scope)),
    ),
}

OPEN: dict[str, tuple[frozenset[str], Callable[[MemoryService, Caller], Any]]] = {
    # Verbs that name nothing show what the caller has one of these rights to, and nothing else.
    "recall": (frozenset({R}), lambda s, c: s.recall(c, Ask("secret", limit=50, floor=0.0))),
    "browse": (frozenset({R}), lambda s, c: s.browse(c, Listing(limit=1000))),
    "briefing": (frozenset({R}), lambda s, c: s.briefing(c, tokens=100_000)),
    "export": (frozenset({R}), lambda s, c: list(s.export(c))),
    "counts": (frozenset({R}), lambda s, c: s.counts(c)),
    "scopes": (
        frozenset({R, W, M}),
        lambda s, c: [str(e.entry.scope) for e in s.administration.scopes(c)],
    ),
}

TENANT: dict[str, tuple[tuple[str, ...], Callable[[MemoryService, Caller], Any]]] = {
    # Verbs about the tenant as a whole, and who may use them.
    "people": (
        ("nobody", "reader", "writer", "manager", "admin", "auditor"),
        lambda s, c: s.administration.people(c),
    ),
    "keys": (
        ("nobody", "reader", "writer", "manager", "admin", "auditor"),
        lambda s, c: s.administration.keys(c),
    ),
    "add_scope": (
        ("nobody", "reader", "writer", "manager", "admin", "auditor"),
        lambda s, c: s.administration.add_scope(c, f"acme/project/new-{next(_counter)}"),
    ),
    "add_person": (
        ("admin",),
        lambda s, c: s.administration.add_person(c, f"someone-{next(_counter)}"),
    ),
    "set_role": (("admin",), lambda s, c: s.administration.set_role(c, "nobody", "member")),
    "disable": (("admin",), lambda s, c: s.administration.disable(c, "disabled")),
    "enable": (("admin",), lambda s, c: s.administration.enable(c, "boss")),
    "set_team": (("admin",), lambda s, c: team(s, c)),
    "make_key": (
        ("admin",),
        lambda s, c: s.administration.make_key(c, "nobody" if c.who != "nobody" else "boss"),
    ),
    "reindex": ((), lambda s, c: s.reindex(c)),
    "audit": (("admin", "auditor"), lambda s, c: s.administration.audit(c)),
}


def team(service: MemoryService, caller: Caller) -> None:
    name = f"team-{next(_counter)}"
    service.administration.add_person(caller, name, kind="team")
    service.administration.set_team(caller, name, ["nobody"])


def outcome(here: World, who: str, act: Callable[[Caller], Any]) -> str:
    try:
        act(here.caller(who))
    except BadKey:
        return "bad key"
    except (Denied, UnknownName):
        return "denied"
    return "done"


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("verb", NAMED)
def test_what_is_named(here: World, verb: str, who: str, relation: str) -> None:
    needs, act = NAMED[verb]
    scope = scope_of(who, relation)
    fact = here.facts[scope]
    expected = "done" if needs <= RIGHTS[who, relation] else "denied"
    if who in DEAD:
        expected = "bad key"
    assert outcome(here, who, lambda c: act(here.service, c, scope, fact)) == expected


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("verb", OPEN)
def test_what_is_shown_to_those_who_name_nothing(here: World, verb: str, who: str) -> None:
    needs, act = OPEN[verb]
    if who in DEAD:
        assert outcome(here, who, lambda c: act(here.service, c)) == "bad key"
        return
    shown = repr(act(here.service, here.caller(who)))
    for relation in RELATIONS:
        scope = scope_of(who, relation)
        marks = [here.facts[scope], scope] if verb in ("recall", "browse", "export") else [scope]
        if verb == "briefing":
            marks = [here.facts[scope]]
        seen = any(mark in shown for mark in marks)
        assert seen == bool(needs & RIGHTS[who, relation]), relation


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("verb", TENANT)
def test_what_is_of_the_tenant(here: World, verb: str, who: str) -> None:
    allowed, act = TENANT[verb]
    expected = "bad key" if who in DEAD else "done" if who in allowed else "denied"
    if who == "stranger":  # is an ordinary member of another tenant
        expected = "done" if verb in ("people", "keys") else "denied"
    assert outcome(here, who, lambda c: act(here.service, c)) == expected


def test_a_stranger_sees_nobody_of_another_tenant(here: World) -> None:
    stranger = here.caller("stranger")
    assert [p.name for p in here.service.administration.people(stranger)] == ["stranger"]
    assert {k.who for k in here.service.administration.keys(stranger)} == {"stranger"}


def test_every_verb_of_the_contract_is_in_the_matrix() -> None:

    tested = {*NAMED, *OPEN, *TENANT}
    for kind in (Memories, Administration, Bound):
        verbs = {name for name in vars(kind) if not name.startswith("_")}
        # Tested apart: `ungrant` goes with `grant`, keys are in test_keys.
        assert verbs - {"ungrant", "rotate_key", "revoke_key", "caller"} <= tested
