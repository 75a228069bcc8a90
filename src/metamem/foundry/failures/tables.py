"""Tables of failures. Counts are made of occurrences, so that what is read twice counts once."""

from metamem.store.schema import Component

# What worked was a sentence once, and is a phrase.
_PHRASES = (
    *(
        f"UPDATE failure_occurrences SET told = SUBSTR(told, 1, LENGTH(told) - {len(old)}) || '{new}'"
        f" WHERE told LIKE '%{old}'"
        for old, new in (
            (" worked.", ""),
            (" worked in the end, after other failures.", ", in the end, after other failures"),
        )
    ),
    "UPDATE failure_occurrences SET told = SUBSTR(told, 7) WHERE told LIKE 'After `%'",
    "UPDATE failure_occurrences SET told = REPLACE(REPLACE(told, '` the same call', '`, then the same call'),"
    " '` `', '`, then `')",
    "UPDATE resolutions SET text = COALESCE((SELECT o.told FROM failure_occurrences o WHERE o.scope = resolutions.scope"
    " AND o.resolution = resolutions.id AND o.told <> '' ORDER BY o.at DESC, o.session, o.use_id LIMIT 1), '')",
)

FAILURES = Component(
    name="failures",
    steps=[
        (
            # `kin` is what failures share that differ in names alone.
            """CREATE TABLE failures (
                scope INTEGER NOT NULL, signature TEXT NOT NULL, kin TEXT NOT NULL, text TEXT NOT NULL,
                count INTEGER NOT NULL, sessions INTEGER NOT NULL, resolved INTEGER NOT NULL,
                first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, archived INTEGER NOT NULL,
                PRIMARY KEY (scope, signature)) {clustered}""",
            "CREATE INDEX kin_of_failure ON failures (scope, kin)",
            # One failed use. `resolution` is empty while nothing resolved it; `told` is what resolved
            # it here, in words, so that a resolution loses them with the last session that had them.
            """CREATE TABLE failure_occurrences (
                scope INTEGER NOT NULL, session TEXT NOT NULL, use_id TEXT NOT NULL,
                signature TEXT NOT NULL, intent TEXT NOT NULL, at INTEGER NOT NULL, goal TEXT NOT NULL,
                kind TEXT NOT NULL, resolution TEXT NOT NULL, told TEXT NOT NULL,
                trajectory TEXT NOT NULL, attempts INTEGER NOT NULL,
                PRIMARY KEY (scope, session, use_id)) {clustered}""",
            "CREATE INDEX occurrences_of_failure ON failure_occurrences (scope, signature)",
            """CREATE TABLE resolutions (
                scope INTEGER NOT NULL, id TEXT NOT NULL, signature TEXT NOT NULL,
                kind TEXT NOT NULL, text TEXT NOT NULL, count INTEGER NOT NULL,
                sessions INTEGER NOT NULL, attempts REAL NOT NULL, last_at INTEGER NOT NULL,
                PRIMARY KEY (scope, id)) {clustered}""",
            "CREATE INDEX resolutions_of_failure ON resolutions (scope, signature)",
            # One decision for a failure in a session: shown or withheld, and how likely that was.
            # `times` is how often it was shown; outcome and repeated are unknown at first.
            """CREATE TABLE suggestion_moments (
                scope INTEGER NOT NULL, session TEXT NOT NULL, signature TEXT NOT NULL,
                place TEXT NOT NULL, resolution TEXT NOT NULL, use_id TEXT NOT NULL,
                withheld INTEGER NOT NULL, propensity REAL NOT NULL, share REAL NOT NULL,
                at INTEGER NOT NULL, times INTEGER NOT NULL, outcome REAL, repeated INTEGER,
                PRIMARY KEY (scope, session, signature)) {clustered}""",
            "CREATE INDEX moments_of_resolution ON suggestion_moments (scope, resolution)",
        ),
        (
            # A failure in words that no tool chose, for agents; empty where it was entered before.
            "ALTER TABLE failures ADD COLUMN plain TEXT NOT NULL DEFAULT ''",
            *_PHRASES,
        ),
        (
            # When a person brought it back; it counts as met then.
            "ALTER TABLE failures ADD COLUMN restored_at INTEGER NOT NULL DEFAULT 0",
        ),
    ],
    changeable=("failures", "failure_occurrences", "resolutions", "suggestion_moments"),
)
