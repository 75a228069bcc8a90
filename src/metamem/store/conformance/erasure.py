"""What is erased is gone, and what is left says so."""

from dataclasses import replace

from metamem.core.access import Scope
from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord
from metamem.core.chat import Usage
from metamem.core.errors import Erased, UnknownName, UsageError
from metamem.core.types import Case
from metamem.store.archive import Archive
from metamem.store.conformance.support import (
    ODD_TEXT,
    Check,
    Opener,
    design,
    episode,
    fingerprint,
    refused,
    row,
    same,
    with_evaluation,
)
from metamem.store.records import ErasureRecord, Origin, Trace

_ATTEMPT = AttemptRecord("k", "mine", "agent", "m", "d", "t", 100, 0.5, "2026-01-01")
_SHARED = ("system", "the same for all")
_CALL = CallRecord(
    "k", "agent", "m", "d", "t", (_SHARED, ("user", "private")), "reply", Usage(3, 1)
)


def _ask(archive: Archive, key: str, run_id: str) -> CallRecord:
    call = replace(_CALL, key=key, turns=(_SHARED, ("user", f"{key} {ODD_TEXT}")))
    number = archive.begin_attempt(replace(_ATTEMPT, key=key, run_id=run_id))
    archive.end_attempt(number, AttemptEnd("answered", Usage(3, 1), 0.25), call)
    return call


def origins_are_entered_once(open_archive: Opener) -> None:
    origin = Origin(ODD_TEXT, "collection", "c")
    with open_archive() as archive:
        same(archive.add_origin(origin), True)
        same(archive.add_origin(origin), False, "adding it again")
        same(archive.add_origin(replace(origin, scope="other")), True, "another scope's share")
        same(archive.add_origin(replace(origin, id=ODD_TEXT, kind="run")), True)
        with refused(UsageError, "'design'"):
            archive.add_origin(replace(origin, kind="design"))
        with refused(UsageError, "'design'"):
            archive.erasure("design", "c")
    with open_archive() as archive:
        same(archive.origins(ODD_TEXT), [origin, replace(origin, id=ODD_TEXT, kind="run")])
        same(archive.origins("nobody"), [])


def what_is_erased_is_gone(open_archive: Opener) -> None:
    with open_archive() as archive:
        evaluation = with_evaluation(archive, planned=2)
        kept = archive.open_evaluation(fingerprint(design(), seed=1), 2)
        for key in (evaluation, kept):
            archive.add_rows(key, [row("a")], {Case("a"): episode("a")})
        for name in ("mine", "yours"):
            archive.put_collection(name, [episode(name)])
            archive.put_blob(name, name.encode())
            archive.create_run(name, {})
        _ask(archive, "k1", "mine")
        yours = _ask(archive, "k2", "yours")
        things = [
            Origin("me", "evaluation", evaluation),
            Origin("me", "run", "mine"),
            Origin("me", "collection", "mine"),
            Origin("me", "blob", "mine"),
        ]
        for thing in things:
            archive.add_origin(thing)
        scores, spent = archive.evaluation(evaluation), archive.spending()
        made = archive.erase("me", decided_by="Ada", reason=ODD_TEXT)
        same(made.erased, tuple(sorted((thing.kind, thing.id) for thing in things)))
    with open_archive() as archive:
        same(archive.erasures(), [made], "the ledger")
        for thing in things:
            same(archive.erasure(thing.kind, thing.id), made)
        same(archive.erasure("blob", "yours"), None)
        for asked in (
            lambda: archive.collection("mine"),
            lambda: archive.blob("mine"),
            lambda: archive.traces(evaluation),
            lambda: archive.call("k1"),
            lambda: archive.put_collection("mine", [episode("mine")]),
            lambda: archive.put_blob("mine", b"mine"),
            lambda: archive.add_trace(evaluation, Case("a"), episode("a")),
            lambda: archive.add_rows(evaluation, [row("b")], {Case("b"): episode("b")}),
            lambda: archive.begin_attempt(replace(_ATTEMPT, key="k3")),
        ):
            with refused(Erased, "erased", "Ada"):
                asked()
        same(archive.evaluation(evaluation), scores, "the scores that stay")
        same(archive.spending(), spent, "the costs that stay")
        same(archive.collections(), ["yours"])
        same(archive.calls(), [yours], "the calls of others, with the texts they share")
        same(archive.traces(kept), [Trace(Case("a"), episode("a"))])
        same((archive.blob("yours"), len(archive.collection("yours") or [])), (b"yours", 1))


def erasing_again_erases_what_came_since(open_archive: Opener) -> None:
    with open_archive() as archive:
        archive.add_origin(Origin("me", "blob", "b"))
        first = archive.erase("me", decided_by="Ada", reason="asked to")
        same(first.erased, (("blob", "b"),), "what is erased before it is written")
        with refused(Erased):
            archive.put_blob("b", b"too late")
        archive.add_origin(Origin("me", "collection", "c"))
        archive.put_collection("c", [episode()])
        second = archive.erase("me", decided_by="Ada", reason="asked to")
        same(second.erased, (("collection", "c"),))
        third = archive.erase("me", decided_by="Ada", reason="to be sure")
        same(third.erased, (), "what is erased when nothing came since")
        same(archive.erasures(), [first, second, third])
        archive.scrub()
        same(archive.erasure("blob", "b"), first, "the erasure that took it")
        for by, reason in (("", "asked to"), ("Ada", " ")):
            with refused(UsageError):
                archive.erase("me", decided_by=by, reason=reason)


def a_scope_that_nothing_is_known_of_is_told(open_archive: Opener) -> None:
    scope = Scope("acme", "user", "ann")
    with open_archive() as archive:
        archive.put_blob("b", b"hers")
        archive.add_origin(Origin(str(scope), "blob", "b"))
        same(archive.origins(scope), [Origin("acme/user/ann", "blob", "b")])
        with refused(UnknownName, "acme/user/anne"):
            archive.erase("acme/user/anne", decided_by="Ada", reason="asked to")
        same(archive.erasures(), [], "what is recorded of a scope that is not there")
        same(archive.blob("b"), b"hers")
        made = archive.erase(scope, decided_by="Ada", reason="asked to")
        same((made.scope, made.erased), ("acme/user/ann", (("blob", "b"),)))
        same(archive.erasures(), [made])


def a_call_under_way_while_its_run_is_erased_keeps_its_cost_alone(open_archive: Opener) -> None:
    with open_archive() as archive:
        archive.add_origin(Origin("me", "run", "mine"))
        number = archive.begin_attempt(_ATTEMPT)
        made: ErasureRecord = archive.erase("me", decided_by="Ada", reason="asked to")
        same(made.erased, (("run", "mine"),))
        archive.end_attempt(number, AttemptEnd("answered", Usage(3, 1), 0.25), _CALL)
        same((archive.call("k"), archive.calls()), (None, []), "what it said")
        same(archive.spending("mine")[0].money, 0.25, "what it cost")


CHECKS: tuple[Check, ...] = (
    origins_are_entered_once,
    what_is_erased_is_gone,
    erasing_again_erases_what_came_since,
    a_scope_that_nothing_is_known_of_is_told,
    a_call_under_way_while_its_run_is_erased_keeps_its_cost_alone,
)
