"""Tables of importing: how far each source was read, what came of it, and what is left out.

No content stands here: ids and digests alone, and folders in whose names no secret is seen.
"""

from metamem.store.schema import Component

IMPORTING = Component(
    name="importing",
    steps=[
        (
            # One process at a time reads a source; what it read is kept before its place is.
            """CREATE TABLE import_places (
                host TEXT NOT NULL, source TEXT NOT NULL, state TEXT NOT NULL,
                session TEXT NOT NULL, scope TEXT NOT NULL, at INTEGER NOT NULL,
                held_by TEXT NOT NULL, held_until INTEGER NOT NULL, PRIMARY KEY (host, source))""",
            "CREATE INDEX import_places_of_session ON import_places (host, session)",
            # Pieces of notes and exports, by a key of their own, and the facts made of them.
            """CREATE TABLE import_items (
                source TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,
                fact TEXT NOT NULL, own INTEGER NOT NULL, at INTEGER NOT NULL,
                PRIMARY KEY (source, scope, key))""",
            "CREATE TABLE import_exclusions (pattern TEXT PRIMARY KEY, at INTEGER NOT NULL)",
            # Sessions that were given a briefing, so that none gets two.
            """CREATE TABLE briefed_sessions (
                host TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL,
                PRIMARY KEY (host, session))""",
        )
    ],
    changeable=("import_places", "import_items", "import_exclusions", "briefed_sessions"),
)
