"""What every engine does for the components that live in it: their schema, guards and erasers."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from metamem.core.errors import Erased, Guarded, StoreError, UsageError
from metamem.store.conformance.engines import (
    NOTES,
    EngineCheck,
    EngineOpener,
    note,
    notes,
    opened,
)
from metamem.store.conformance.support import refused, same
from metamem.store.engine import Engine
from metamem.store.experiments import EXPERIMENTS
from metamem.store.records import Origin
from metamem.store.schema import Component, upgrade, versions
from metamem.store.sql import SqlArchive
from metamem.store.sql.base import insert, refuse_erased


def each_component_can_be_first_or_alone(open_engine: EngineOpener) -> None:
    other = Component("other", (("CREATE TABLE others (a TEXT)",),), changeable=("others",))
    for order in permutations((NOTES, other, EXPERIMENTS)):
        engine = open_engine("-".join(component.name for component in order))
        for number, component in enumerate(order, start=1):
            upgrade(engine, [component])
            with engine.reading() as execute:
                found = versions(engine, execute)
            same(dict(found), {c.name: c.newest for c in order[:number]}, "what is there")
        engine.close()


def guards_are_what_the_component_says(open_engine: EngineOpener) -> None:
    freed = replace(NOTES, append_only=(), changeable=("marks", "seen"))
    unlisted = replace(NOTES, append_only=())
    held = replace(NOTES, append_only=("seen", "marks"), changeable=())
    write = "UPDATE seen SET note = 'b'", "UPDATE marks SET colour = 'blue'"
    with opened(open_engine, NOTES) as engine:
        with engine.writing() as execute:
            insert(execute, "seen", {"seq": 1, "note": "a"})
            insert(execute, "marks", {"note": "a", "colour": "red"})
        for component, guarded in (
            (freed, (False, False)),
            (NOTES, (True, False)),
            (unlisted, (False, False)),
            (held, (True, True)),
            (NOTES, (True, False)),
        ):
            upgrade(engine, [component])
            same(_refuses(engine, write), guarded, "what is guarded")
        upgrade(engine, [EXPERIMENTS])
        same(_refuses(engine, write), (True, False), "what is guarded once another came")


def _refuses(engine: Engine, statements: Sequence[str]) -> tuple[bool, ...]:
    refusals = []
    for statement in statements:
        try:
            with engine.writing() as execute:
                execute(statement)
            refusals.append(False)
        except Guarded:
            refusals.append(True)
    return tuple(refusals)


def a_table_that_is_misspelt_is_refused(open_engine: EngineOpener) -> None:
    misspelt = replace(NOTES, append_only=("sene",))
    engine = open_engine("one")
    with refused(UsageError, "sene", "notes"):
        upgrade(engine, [misspelt])
    with engine.reading() as execute:
        same(engine.tables(execute), set(), "the tables of a component that was refused")
    upgrade(engine, [NOTES])
    for wrong in (misspelt, replace(NOTES, changeable=("marks", "sene"))):
        with refused(UsageError, "sene"):
            upgrade(engine, [wrong])
    engine.close()


def steps_may_differ_by_dialect_and_hold_braces(open_engine: EngineOpener) -> None:
    engine = open_engine("one")
    table = 'CREATE TABLE leaves (id TEXT, form TEXT DEFAULT \'{"a": {"b": []}}\')'
    leaves = Component(
        "leaves",
        (
            ({engine.dialect: table, "of nobody": "nonsense"},),
            ("INSERT INTO leaves (id) VALUES ('{}'), ('{word}')",),
        ),
        changeable=("leaves",),
    )
    upgrade(engine, [leaves])
    with engine.reading() as execute:
        found = execute("SELECT id, form FROM leaves ORDER BY id")
    same(found, [("{word}", '{"a": {"b": []}}'), ("{}", '{"a": {"b": []}}')])
    with refused(StoreError, "trees", engine.place):
        upgrade(engine, [Component("trees", (({"of nobody": table},),))])
    with engine.reading() as execute:
        same(dict(versions(engine, execute)), {"leaves": 2})
    engine.close()


def what_a_component_keeps_is_erased_in_the_one_transaction(open_engine: EngineOpener) -> None:
    components = (EXPERIMENTS, NOTES)
    engine = open_engine("one")
    upgrade(engine, components)
    for name in ("a", "b"):
        note(engine, name)
    with SqlArchive(engine, components) as archive:
        archive.put_blob("blob", b"hers")
        archive.add_origin(Origin("ann", "blob", "blob"))
        archive.add_origin(Origin("ann", "note", "a"))
        with refused(UsageError, "'margin'", "note"):
            archive.add_origin(Origin("ann", "margin", "a in the margin"))
        with refused(UsageError, "note"):
            SqlArchive(engine, (*components, NOTES))
        ignorant = SqlArchive(engine, [EXPERIMENTS])
        with refused(StoreError, "note", "nothing was erased"):
            ignorant.erase("ann", decided_by="Ada", reason="asked to")
        same((archive.blob("blob"), archive.erasures()), (b"hers", []), "what was not erased")
        made = archive.erase("ann", decided_by="Ada", reason="asked to")
        same(made.erased, (("blob", "blob"), ("note", "a")))
        same(archive.erasures(), [made])
        same(ignorant.erasures(), [made], "what is told without the component")
        same(archive.erasure("note", "a"), made)
        again = ignorant.erase("ann", decided_by="Ada", reason="to be sure")
        same(again.erased, (), "what is left to erase without the component")
        note(engine, "a")  # whoever writes it again without asking
        archive.erase("ann", decided_by="Ada", reason="to be sure")
        same(notes(engine), ["b"])
        with engine.reading() as execute:
            for kind, name in (("note", "a"), ("margin", "a in the margin")):
                with refused(Erased, name, "Ada"):
                    refuse_erased(execute, kind, name)


CHECKS: tuple[EngineCheck, ...] = (
    each_component_can_be_first_or_alone,
    guards_are_what_the_component_says,
    a_table_that_is_misspelt_is_refused,
    steps_may_differ_by_dialect_and_hold_braces,
    what_a_component_keeps_is_erased_in_the_one_transaction,
)
