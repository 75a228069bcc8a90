"""The tables of the memory service: one component, beside whatever else a database holds.

What happened is in `events`, which only grows; what it was about is in `event_bodies`, which can be
erased. All else about facts (`facts` and what hangs on them) is a picture of the log and can be
made anew from it; it may be changed, by `metamem.service.picture` alone. Times are milliseconds
since 1970, UTC.

A fact's number follows from its place in the log (`fact_number`), so that making the picture anew
gives the same numbers, and none is ever used twice.

Scopes stand in the key of every index that recall reads, so that no query can wander into another's.
"""

from metamem.store.schema import Component

AT_ONCE = 4096  # the most facts that one event can bring


def fact_number(seq: int, index: int) -> int:
    """The number of the fact at a place of an event."""
    assert 0 <= index < AT_ONCE
    return seq * AT_ONCE + index


_PEOPLE = (
    # Who there is. A team is somebody, too, and has members.
    """CREATE TABLE principals (
        number {sequence}, tenant TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        role TEXT NOT NULL, made_at INTEGER NOT NULL, disabled_at INTEGER,
        UNIQUE (tenant, name))""",
    """CREATE TABLE team_members (
        team INTEGER NOT NULL REFERENCES principals, member INTEGER NOT NULL REFERENCES principals,
        PRIMARY KEY (team, member))""",
    """CREATE TABLE scopes (
        number {sequence}, tenant TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        visibility TEXT NOT NULL, owner INTEGER REFERENCES principals, made_at INTEGER NOT NULL,
        generation INTEGER NOT NULL DEFAULT 0, erased_at INTEGER, settings TEXT NOT NULL,
        UNIQUE (tenant, kind, name))""",
    """CREATE TABLE memberships (
        scope INTEGER NOT NULL REFERENCES scopes, principal INTEGER NOT NULL REFERENCES principals,
        role TEXT NOT NULL, granted_by TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (scope, principal))""",
    """CREATE TABLE api_keys (
        id TEXT PRIMARY KEY, principal INTEGER NOT NULL REFERENCES principals,
        hash {bytes} NOT NULL, label TEXT NOT NULL, rights TEXT NOT NULL, scopes TEXT NOT NULL,
        per_minute INTEGER NOT NULL, most_facts INTEGER, facts INTEGER NOT NULL DEFAULT 0,
        made_at INTEGER NOT NULL,
        expires_at INTEGER, revoked_at INTEGER, last_used_at INTEGER, replaces TEXT)""",
    """CREATE TABLE audit (
        seq {sequence}, at INTEGER NOT NULL, tenant TEXT NOT NULL, who TEXT NOT NULL,
        key TEXT NOT NULL, verb TEXT NOT NULL, scope TEXT NOT NULL, target TEXT NOT NULL,
        outcome TEXT NOT NULL)""",
    "CREATE INDEX audit_of_tenant ON audit (tenant, seq)",
    """CREATE TABLE replies (
        tenant TEXT NOT NULL, who TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
        request TEXT NOT NULL, reply TEXT NOT NULL, PRIMARY KEY (tenant, who, key))""",
)

_LOG = (
    """CREATE TABLE events (
        seq {sequence}, id TEXT NOT NULL UNIQUE, scope INTEGER NOT NULL REFERENCES scopes,
        kind TEXT NOT NULL, actor TEXT NOT NULL, at INTEGER NOT NULL, digest TEXT NOT NULL)""",
    "CREATE INDEX events_of_scope ON events (scope, seq)",
    "CREATE TABLE event_bodies (seq INTEGER PRIMARY KEY REFERENCES events, body TEXT NOT NULL)",
    """CREATE TABLE tombstones (
        seq {sequence}, tenant TEXT NOT NULL, what TEXT NOT NULL, at INTEGER NOT NULL,
        decided_by TEXT NOT NULL, reason TEXT NOT NULL, counts TEXT NOT NULL)""",
)

_FACTS = (
    """CREATE TABLE facts (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        scope INTEGER NOT NULL REFERENCES scopes,
        type TEXT NOT NULL, text TEXT NOT NULL, digest TEXT NOT NULL, author TEXT NOT NULL,
        source TEXT NOT NULL, origin TEXT NOT NULL, trust INTEGER NOT NULL,
        quarantined INTEGER NOT NULL, said_at INTEGER NOT NULL, meant_from INTEGER,
        meant_to INTEGER, importance REAL NOT NULL, lifecycle TEXT NOT NULL,
        version INTEGER NOT NULL, session TEXT NOT NULL, position INTEGER NOT NULL,
        terms INTEGER NOT NULL, tokens INTEGER NOT NULL, pinned INTEGER NOT NULL,
        created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, changed_by TEXT NOT NULL,
        reason TEXT NOT NULL, event INTEGER NOT NULL)""",
    "CREATE INDEX facts_of_scope ON facts (scope, lifecycle, number)",
    "CREATE INDEX facts_by_digest ON facts (scope, digest)",
    "CREATE INDEX facts_by_session ON facts (scope, session, position)",
    """CREATE TABLE fact_versions (
        fact INTEGER NOT NULL REFERENCES facts, version INTEGER NOT NULL, text TEXT NOT NULL,
        type TEXT NOT NULL, importance REAL NOT NULL, lifecycle TEXT NOT NULL,
        changed_by TEXT NOT NULL, at INTEGER NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (fact, version))""",
    """CREATE TABLE fact_entities (
        scope INTEGER NOT NULL, entity TEXT NOT NULL, fact INTEGER NOT NULL REFERENCES facts,
        PRIMARY KEY (scope, entity, fact)) {clustered}""",
    "CREATE INDEX entities_of_fact ON fact_entities (fact)",
    """CREATE TABLE links (
        source INTEGER NOT NULL REFERENCES facts, target INTEGER NOT NULL REFERENCES facts,
        kind TEXT NOT NULL, weight REAL NOT NULL, made_by TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (source, target, kind))""",
    "CREATE INDEX links_to ON links (target, kind)",
    """CREATE TABLE sessions (
        scope INTEGER NOT NULL REFERENCES scopes, id TEXT NOT NULL, host TEXT NOT NULL,
        title TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, outcome TEXT NOT NULL,
        PRIMARY KEY (scope, id))""",
)

_INDEXES = (
    """CREATE TABLE postings (
        scope INTEGER NOT NULL, term TEXT NOT NULL, fact INTEGER NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (scope, term, fact)) {clustered}""",
    "CREATE TABLE embedders (number {sequence}, fingerprint TEXT NOT NULL UNIQUE,"
    " dimensions INTEGER NOT NULL)",
    """CREATE TABLE vectors (
        scope INTEGER NOT NULL, fact INTEGER NOT NULL,
        embedder INTEGER NOT NULL REFERENCES embedders, vector {bytes} NOT NULL,
        PRIMARY KEY (scope, fact)) {clustered}""",
    # Large scopes' facts as columns in one piece, for processes that begin; made anew at any time.
    """CREATE TABLE catalogs (
        scope INTEGER PRIMARY KEY REFERENCES scopes, generation INTEGER NOT NULL,
        seq INTEGER NOT NULL, last INTEGER NOT NULL, facts INTEGER NOT NULL,
        body {bytes} NOT NULL)""",
)

_USE = (
    # Who was shown what, and how likely it was to be shown: feedback means nothing without that.
    """CREATE TABLE recalls (
        id TEXT PRIMARY KEY, tenant TEXT NOT NULL, who TEXT NOT NULL, at INTEGER NOT NULL,
        kind TEXT NOT NULL, query TEXT NOT NULL, settings TEXT NOT NULL)""",
    """CREATE TABLE recall_scopes (
        recall TEXT NOT NULL REFERENCES recalls, scope INTEGER NOT NULL REFERENCES scopes,
        PRIMARY KEY (scope, recall)) {clustered}""",
    """CREATE TABLE recall_items (
        recall TEXT NOT NULL REFERENCES recalls, fact INTEGER NOT NULL,
        rank INTEGER NOT NULL, score REAL NOT NULL, propensity REAL NOT NULL,
        shown INTEGER NOT NULL, why TEXT NOT NULL, PRIMARY KEY (recall, fact)) {clustered}""",
    "CREATE INDEX recalls_of_fact ON recall_items (fact)",
    """CREATE TABLE feedback (
        seq {sequence}, recall TEXT NOT NULL REFERENCES recalls,
        fact INTEGER NOT NULL, verdict TEXT NOT NULL, given_by TEXT NOT NULL,
        at INTEGER NOT NULL, note TEXT NOT NULL, UNIQUE (recall, fact, given_by))""",
    "CREATE INDEX feedback_of_fact ON feedback (fact)",
)

_DESIGNS = (
    # What served designs learn from, in the order of its coming: a position stays when its body is
    # erased, so that every memory counts alike.
    """CREATE TABLE experiences (
        scope INTEGER NOT NULL REFERENCES scopes, position INTEGER NOT NULL,
        event INTEGER NOT NULL REFERENCES events, PRIMARY KEY (scope, position)) {clustered}""",
    # When advice was asked for: which design gave it, if any, how likely that was, what came of it.
    """CREATE TABLE moments (
        id TEXT PRIMARY KEY, scope INTEGER NOT NULL REFERENCES scopes, event INTEGER NOT NULL,
        at INTEGER NOT NULL, who TEXT NOT NULL, session TEXT NOT NULL, comparison TEXT NOT NULL,
        design TEXT NOT NULL, held_back INTEGER NOT NULL, propensity REAL NOT NULL,
        outcome REAL)""",
    "CREATE INDEX moments_of_scope ON moments (scope, event)",
)

_CALLS = (
    # What agents did with their tools: a picture of events of the kind `called`.
    """CREATE TABLE calls (
        scope INTEGER NOT NULL REFERENCES scopes, session TEXT NOT NULL, id TEXT NOT NULL,
        position INTEGER NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT,
        error TEXT NOT NULL, failed INTEGER, exit_code INTEGER, at INTEGER, milliseconds INTEGER,
        prompt TEXT NOT NULL, call_group TEXT NOT NULL, agent TEXT NOT NULL,
        redacted INTEGER NOT NULL, rewound INTEGER NOT NULL, event INTEGER NOT NULL,
        PRIMARY KEY (scope, session, id)) {clustered}""",
    "CREATE INDEX calls_in_order ON calls (scope, session, position)",
    "CREATE INDEX calls_by_event ON calls (scope, event)",
)

_CALLS_BY_ID = ("CREATE INDEX calls_by_id ON calls (scope, id)",)

_TREES = (
    # The files that sessions began with: a picture of events of the kind `began`.
    """CREATE TABLE trees (
        scope INTEGER NOT NULL REFERENCES scopes, session TEXT NOT NULL, folder TEXT NOT NULL,
        base TEXT NOT NULL, diff TEXT NOT NULL, at INTEGER NOT NULL, whole INTEGER NOT NULL,
        event INTEGER NOT NULL, PRIMARY KEY (scope, session)) {clustered}""",
)

_MODEL_REPLIES = (
    # What a model said to the designs of a scope: with the log it makes their states again. A
    # position is that of the log, and the number of experiences that the design had seen.
    """CREATE TABLE model_replies (
        scope INTEGER NOT NULL REFERENCES scopes, key TEXT NOT NULL, design TEXT NOT NULL,
        position INTEGER NOT NULL, retrieval INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (scope, key)) {clustered}""",
)

# Replies were kept under the keys as they came, which may hold secrets; now under digests of them.
# They last for a day: those that are there are dropped.
_REPLIES_BY_DIGEST = ("DELETE FROM replies",)

# Who claimed that somebody else said it.
_TOLD_BY = ("ALTER TABLE facts ADD COLUMN told_by TEXT NOT NULL DEFAULT ''",)

# Facts by the time that they are of: the one that they mean, where they mean one, else the one when
# they were said. Whom and what is asked for beside it is decided without reading a fact.
_BY_TIME = (
    "CREATE INDEX facts_by_time_said ON facts (scope, said_at, type, author)",
    "CREATE INDEX facts_by_time_meant ON facts (scope, meant_from, type, author)"
    " WHERE meant_from IS NOT NULL",
)

_JOBS = (
    # A job goes on where it stopped, one process at a time; `acted` at zero is worth an alarm.
    """CREATE TABLE jobs (
        name TEXT NOT NULL, scope INTEGER NOT NULL, position INTEGER NOT NULL,
        held_by TEXT NOT NULL, held_until INTEGER NOT NULL, ran INTEGER NOT NULL,
        acted INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (name, scope))""",
    # Settings of the whole database, such as the embedder that is in use.
    "CREATE TABLE service_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)

SERVICE = Component(
    name="service",
    steps=[
        (*_PEOPLE, *_LOG, *_FACTS, *_INDEXES, *_USE, *_DESIGNS, *_JOBS),
        _CALLS,
        _TREES,
        _CALLS_BY_ID,
        _MODEL_REPLIES,
        _REPLIES_BY_DIGEST,
        _TOLD_BY,
        _BY_TIME,
    ],
    append_only=("events", "audit", "tombstones"),
    erasable=("event_bodies",),
    changeable=(
        "principals",
        "team_members",
        "scopes",
        "memberships",
        "api_keys",
        "replies",
        "facts",
        "fact_versions",
        "fact_entities",
        "links",
        "sessions",
        "postings",
        "embedders",
        "vectors",
        "catalogs",
        "recalls",
        "recall_scopes",
        "recall_items",
        "feedback",
        "experiences",
        "moments",
        "calls",
        "trees",
        "model_replies",
        "jobs",
        "service_settings",
    ),
)
