"""The schema, as steps from one version to the next.

Plain SQL that SQLite and PostgreSQL both take, but for two types each engine fills in:
`{bytes}` and `{sequence}` (a key that grows with every row). A step that was released is never
edited: a change is a new step at the end.

Every table is append-only, and the engine guards that with triggers; they are taken off while
steps run, since a step may have to rewrite what is there.
"""

from collections.abc import Sequence

from metamem.core.errors import DataError, StoreError
from metamem.store.engine import Engine, Execute

VERSION_TABLE = "archive_schema"

V1 = (
    f"CREATE TABLE {VERSION_TABLE} (version BIGINT NOT NULL PRIMARY KEY)",
    """CREATE TABLE designs (
        seq {sequence},
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        source TEXT NOT NULL,
        name TEXT NOT NULL,
        created_at TEXT NOT NULL
    )""",
    """CREATE TABLE runs (
        seq {sequence},
        id TEXT NOT NULL UNIQUE,
        config TEXT NOT NULL
    )""",
    """CREATE TABLE run_states (
        seq {sequence},
        run_id TEXT NOT NULL REFERENCES runs (id),
        state TEXT NOT NULL,
        summary TEXT NOT NULL,
        at TEXT NOT NULL
    )""",
    """CREATE TABLE evaluations (
        seq {sequence},
        id TEXT NOT NULL UNIQUE,
        design_id TEXT NOT NULL REFERENCES designs (id),
        domain TEXT NOT NULL,
        split TEXT NOT NULL,
        conditions TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        planned BIGINT NOT NULL
    )""",
    # Exact and repeatable: equal under an equal fingerprint.
    """CREATE TABLE results (
        evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
        task_id TEXT NOT NULL,
        repeat BIGINT NOT NULL,
        reward DOUBLE PRECISION NOT NULL,
        steps BIGINT NOT NULL,
        advice_tokens BIGINT NOT NULL,
        advice_truncated BIGINT NOT NULL,
        advice_digest TEXT NOT NULL,
        advice_used DOUBLE PRECISION NOT NULL,
        model_calls BIGINT NOT NULL,
        tokens BIGINT NOT NULL,
        failure TEXT NOT NULL,
        PRIMARY KEY (evaluation_id, task_id, repeat)
    )""",
    # What a clock said: in a table of its own, so that no comparison of results meets it.
    """CREATE TABLE measurements (
        evaluation_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        repeat BIGINT NOT NULL,
        seconds DOUBLE PRECISION NOT NULL,
        retrieve_ms DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (evaluation_id, task_id, repeat),
        FOREIGN KEY (evaluation_id, task_id, repeat)
            REFERENCES results (evaluation_id, task_id, repeat)
    )""",
    """CREATE TABLE traces (
        evaluation_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        repeat BIGINT NOT NULL,
        episode {bytes} NOT NULL,
        PRIMARY KEY (evaluation_id, task_id, repeat),
        FOREIGN KEY (evaluation_id, task_id, repeat)
            REFERENCES results (evaluation_id, task_id, repeat)
    )""",
    """CREATE TABLE proposals (
        run_id TEXT NOT NULL REFERENCES runs (id),
        ordinal BIGINT NOT NULL,
        design_id TEXT REFERENCES designs (id),
        proposer TEXT NOT NULL,
        operator TEXT NOT NULL,
        note TEXT NOT NULL,
        status TEXT NOT NULL,
        reason TEXT NOT NULL,
        evidence TEXT NOT NULL,
        evaluation_id TEXT REFERENCES evaluations (id),
        estimate TEXT,
        PRIMARY KEY (run_id, ordinal)
    )""",
    """CREATE TABLE proposal_parents (
        run_id TEXT NOT NULL,
        ordinal BIGINT NOT NULL,
        place BIGINT NOT NULL,
        design_id TEXT NOT NULL REFERENCES designs (id),
        PRIMARY KEY (run_id, ordinal, place),
        FOREIGN KEY (run_id, ordinal) REFERENCES proposals (run_id, ordinal)
    )""",
    """CREATE TABLE collections (
        seq {sequence},
        id TEXT NOT NULL UNIQUE,
        episodes {bytes} NOT NULL
    )""",
    """CREATE TABLE blobs (
        id TEXT NOT NULL PRIMARY KEY,
        content {bytes} NOT NULL
    )""",
    """CREATE TABLE promotions (
        seq {sequence},
        domain TEXT NOT NULL,
        run_id TEXT REFERENCES runs (id),
        design_id TEXT REFERENCES designs (id),
        decided_by TEXT NOT NULL,
        decision TEXT NOT NULL,
        reason TEXT NOT NULL,
        evidence TEXT NOT NULL,
        at TEXT NOT NULL
    )""",
    # No references: a read is entered before it is made, whatever else is there by then.
    """CREATE TABLE reads (
        seq {sequence},
        at TEXT NOT NULL,
        run_id TEXT,
        split TEXT NOT NULL,
        design_id TEXT NOT NULL,
        evaluation_id TEXT NOT NULL,
        purpose TEXT NOT NULL
    )""",
)

# Who made a design; and what the search asks for most gets an index.
V2 = (
    "ALTER TABLE designs ADD COLUMN created_by TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX evaluations_by_design ON evaluations (design_id)",
    "CREATE INDEX evaluations_by_conditions ON evaluations (conditions)",
    "CREATE INDEX run_states_by_run ON run_states (run_id)",
    "CREATE INDEX promotions_by_domain ON promotions (domain)",
)

# Questions to models. A text that several questions share is kept once.
V3 = (
    """CREATE TABLE model_texts (
        id TEXT NOT NULL PRIMARY KEY,
        content {bytes} NOT NULL
    )""",
    """CREATE TABLE model_calls (
        seq {sequence},
        id TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL,
        model TEXT NOT NULL,
        design_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        turns {bytes} NOT NULL,
        reply {bytes} NOT NULL,
        input BIGINT NOT NULL,
        output BIGINT NOT NULL,
        cached BIGINT NOT NULL,
        reasoning BIGINT NOT NULL
    )""",
    "CREATE INDEX model_calls_by_design ON model_calls (design_id)",
    """CREATE TABLE model_attempts (
        seq {sequence},
        call_id TEXT NOT NULL,
        run_id TEXT NOT NULL,
        role TEXT NOT NULL,
        model TEXT NOT NULL,
        design_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        reserved BIGINT NOT NULL,
        reserved_money DOUBLE PRECISION,
        at TEXT NOT NULL
    )""",
    "CREATE INDEX model_attempts_by_run ON model_attempts (run_id)",
    """CREATE TABLE model_attempt_ends (
        attempt BIGINT NOT NULL PRIMARY KEY REFERENCES model_attempts (seq),
        outcome TEXT NOT NULL,
        input BIGINT NOT NULL,
        output BIGINT NOT NULL,
        cached BIGINT NOT NULL,
        reasoning BIGINT NOT NULL,
        money DOUBLE PRECISION,
        detail TEXT NOT NULL,
        seconds DOUBLE PRECISION NOT NULL
    )""",
)

# Whether advice is used shows in what the agent does with it and without it; how many of its
# actions stand in the advice word for word, which was kept before, says little.
V4 = (
    "ALTER TABLE results DROP COLUMN advice_used",
    "ALTER TABLE results ADD COLUMN actions_digest TEXT NOT NULL DEFAULT ''",
)

STEPS: tuple[Sequence[str], ...] = (V1, V2, V3, V4)  # STEPS[n] leads from version n to n + 1


def upgrade(engine: Engine, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Bring an archive to the newest version, all steps or none; an empty one starts at 0."""
    with engine.reading() as execute:
        if _version(engine, execute, steps) == len(steps):
            return
    with engine.writing() as execute:
        # Asked again: another process may have upgraded while this one waited to write.
        version = _version(engine, execute, steps)
        if version == len(steps):
            return
        for statement in engine.unguard(execute):
            execute(statement)
        for number, step in enumerate(steps[version:], start=version + 1):
            for statement in step:
                execute(statement.format_map(engine.types))
            execute(f"INSERT INTO {VERSION_TABLE} (version) VALUES (?)", (number,))
        for statement in engine.guard(sorted(engine.tables(execute))):
            execute(statement)


def _version(engine: Engine, execute: Execute, steps: Sequence[Sequence[str]]) -> int:
    return read_version(engine.place, engine.tables(execute), execute, newest=len(steps))


def read_version(
    place: str, tables: set[str], execute: Execute, *, newest: int = len(STEPS)
) -> int:
    """The version of what lies at `place`; refused where it is no archive, or one too new."""
    if not tables:
        return 0
    if VERSION_TABLE not in tables:
        raise DataError(
            f"{place} is a database of something else, not an archive",
            hint="name another file",
        )
    ((version,),) = execute(f"SELECT MAX(version) FROM {VERSION_TABLE}")
    if version is None:
        raise DataError(f"{place} does not say its schema version", hint="restore a backup")
    if version > newest:
        raise StoreError(
            f"{place} has schema version {version}; this metamem knows up to {newest}",
            hint="upgrade metamem to open it",
        )
    return int(version)
