"""Tables of lessons. A lesson is drawn anew of what was kept of sessions, and goes with its sources."""

from metamem.store.schema import Component

LESSONS = Component(
    name="lessons",
    steps=[
        (
            # How a session ended; `success` is unknown where nobody can say.
            """CREATE TABLE lesson_sessions (
                scope INTEGER NOT NULL, session TEXT NOT NULL, goal TEXT NOT NULL, success INTEGER,
                ended_by TEXT NOT NULL, confidence REAL NOT NULL, at INTEGER NOT NULL,
                PRIMARY KEY (scope, session)) {clustered}""",
            # A call that worked and did more than look. `text` is empty where it must not be told;
            # `next_failed` is unknown where nothing followed.
            """CREATE TABLE lesson_calls (
                scope INTEGER NOT NULL, session TEXT NOT NULL, use_id TEXT NOT NULL,
                position INTEGER NOT NULL, step TEXT NOT NULL, text TEXT NOT NULL,
                next_failed INTEGER, PRIMARY KEY (scope, session, use_id)) {clustered}""",
            """CREATE TABLE lessons (
                scope INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
                evidence TEXT NOT NULL, worth REAL NOT NULL, sessions INTEGER NOT NULL,
                first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, archived INTEGER NOT NULL,
                PRIMARY KEY (scope, id)) {clustered}""",
            "CREATE INDEX lessons_of_a_kind ON lessons (scope, kind, archived)",
            """CREATE TABLE lesson_sources (
                scope INTEGER NOT NULL, lesson TEXT NOT NULL, session TEXT NOT NULL,
                PRIMARY KEY (scope, lesson, session)) {clustered}""",
            "CREATE INDEX lessons_of_a_session ON lesson_sources (scope, session)",
        ),
        (
            # When a person brought it back; it counts as met then.
            "ALTER TABLE lessons ADD COLUMN restored_at INTEGER NOT NULL DEFAULT 0",
        ),
    ],
    changeable=("lesson_sessions", "lesson_calls", "lessons", "lesson_sources"),
)
