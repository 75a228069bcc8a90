"""The schema of experiments: designs, runs, evaluations, what they were made from, decisions."""

from metamem.store.schema import Component
from metamem.store.sql.erasers import ERASERS

V1 = (
    "CREATE TABLE archive_schema (version BIGINT NOT NULL PRIMARY KEY)",
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

# Components keep their versions side by side, in a table of their own. The old one is kept, and
# closed with a version that older programs do not know, so that they ask for an upgrade.
_CLOSED = (
    "INSERT INTO archive_schema (version)"
    " SELECT 4 WHERE NOT EXISTS (SELECT 1 FROM archive_schema WHERE version = 4)",
)

# Decisions about anything, each at its own place in the history of what it decides: two that are
# taken at once cannot both be the next.
_PROMOTIONS = (
    "ALTER TABLE promotions RENAME TO promotions_of_designs",
    """CREATE TABLE promotions (
        seq {sequence},
        subject_kind TEXT NOT NULL,
        subject_name TEXT NOT NULL,
        subject_id TEXT NOT NULL,
        place_kind TEXT NOT NULL,
        place_name TEXT NOT NULL,
        ordinal BIGINT NOT NULL,
        decision TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        waits BIGINT NOT NULL,
        risk TEXT NOT NULL,
        run_id TEXT REFERENCES runs (id),
        reason TEXT NOT NULL,
        evidence TEXT NOT NULL,
        at TEXT NOT NULL,
        UNIQUE (subject_kind, subject_name, place_kind, place_name, ordinal)
    )""",
    # What the gate promoted was in use at once then, with nobody to wait for.
    "INSERT INTO promotions (seq, subject_kind, subject_name, subject_id, place_kind, place_name,"
    " ordinal, decision, decided_by, waits, risk, run_id, reason, evidence, at)"
    " SELECT seq, 'design', '', COALESCE(design_id, ''), 'domain', domain,"
    " ROW_NUMBER() OVER (PARTITION BY domain ORDER BY seq) - 1, decision, decided_by, 0, 'code',"
    " run_id, reason, evidence, at FROM promotions_of_designs",
    "DROP TABLE promotions_of_designs",
    "CREATE INDEX promotions_by_run ON promotions (run_id)",
)

# Whose data is in what, and what was erased on whose word.
_ERASURES = (
    """CREATE TABLE origins (
        seq {sequence},
        scope TEXT NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        UNIQUE (scope, kind, id)
    )""",
    """CREATE TABLE erasures (
        seq {sequence},
        scope TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        reason TEXT NOT NULL,
        at TEXT NOT NULL
    )""",
    """CREATE TABLE erased (
        erasure BIGINT NOT NULL REFERENCES erasures (seq),
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    )""",
)

V4 = (*_CLOSED, *_PROMOTIONS, *_ERASURES)

# Whether advice is used shows in what the agent does with it and without it; how many of its
# actions stand in the advice word for word, which was kept before, says little.
V5 = (
    "ALTER TABLE results DROP COLUMN advice_used",
    "ALTER TABLE results ADD COLUMN actions_digest TEXT NOT NULL DEFAULT ''",
)

# What a case took beside what every case takes, as its domain names it.
V6 = ("ALTER TABLE results ADD COLUMN costs TEXT NOT NULL DEFAULT ''",)

EXPERIMENTS = Component(
    name="experiments",
    steps=(V1, V2, V3, V4, V5, V6),
    append_only=(
        "archive_schema",
        "component_versions",
        "designs",
        "runs",
        "run_states",
        "proposals",
        "proposal_parents",
        "evaluations",
        "results",
        "measurements",
        "model_attempts",
        "model_attempt_ends",
        "promotions",
        "reads",
        "origins",
        "erasures",
        "erased",
    ),
    # What can come from a person's data. The rows above keep its ids, digests and scores.
    erasable=("traces", "collections", "blobs", "model_texts", "model_calls"),
    erasers=ERASERS,
)
