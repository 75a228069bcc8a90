"""Tables of tools: what was written, how it was judged, where it is in use, and what came of that.

What is decided stands in the ledger of promotions; here is what it is about. A *slot* is one tool through
all its versions: its name and its history in the ledger stay when a better version is written.
"""

from metamem.store.schema import Component

TOOLS = Component(
    name="tools",
    steps=[
        (
            # `waits`: for a person. `approved`: in use, or about to be. The others are out of use.
            """CREATE TABLE tools (
                scope INTEGER NOT NULL, id TEXT NOT NULL, slot TEXT NOT NULL, title TEXT NOT NULL,
                description TEXT NOT NULL, program TEXT NOT NULL, given TEXT NOT NULL,
                workflow TEXT NOT NULL, kept_as TEXT NOT NULL, writer TEXT NOT NULL,
                state TEXT NOT NULL, lower REAL NOT NULL, within TEXT NOT NULL,
                made_at INTEGER NOT NULL, archived INTEGER NOT NULL,
                PRIMARY KEY (scope, id)) {clustered}""",
            """CREATE TABLE tool_slots (
                scope INTEGER NOT NULL, slot TEXT NOT NULL, name TEXT NOT NULL,
                PRIMARY KEY (scope, slot), UNIQUE (scope, name))""",
            # Times that the steps were done by hand: those it was written from, and what they cost.
            """CREATE TABLE tool_cases (
                scope INTEGER NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL,
                first_use TEXT NOT NULL, held_out INTEGER NOT NULL, calls INTEGER NOT NULL,
                tokens INTEGER NOT NULL, milliseconds INTEGER NOT NULL,
                PRIMARY KEY (scope, tool, session, first_use)) {clustered}""",
            """CREATE TABLE tool_replays (
                scope INTEGER NOT NULL, tool TEXT NOT NULL, case_id TEXT NOT NULL, equal INTEGER,
                why TEXT NOT NULL, PRIMARY KEY (scope, tool, case_id)) {clustered}""",
            """CREATE TABLE tool_deployments (
                number {sequence}, scope INTEGER NOT NULL, slot TEXT NOT NULL, tool TEXT NOT NULL,
                revision TEXT NOT NULL, decided_by TEXT NOT NULL, at INTEGER NOT NULL,
                ended_at INTEGER, why TEXT NOT NULL)""",
            "CREATE INDEX deployments_of_slot ON tool_deployments (scope, slot)",
            # One version of a tool at a time.
            """CREATE UNIQUE INDEX deployed_now ON tool_deployments (scope, slot)
                WHERE ended_at IS NULL""",
            # One use of a deployed tool. The runner and the session's trace may both tell of it.
            """CREATE TABLE tool_runs (
                scope INTEGER NOT NULL, id TEXT NOT NULL, slot TEXT NOT NULL, tool TEXT NOT NULL,
                at INTEGER NOT NULL, exit_code INTEGER NOT NULL, worked INTEGER NOT NULL,
                counted INTEGER NOT NULL, why TEXT NOT NULL, milliseconds INTEGER NOT NULL,
                tokens INTEGER, given TEXT NOT NULL, session TEXT NOT NULL, use_id TEXT NOT NULL,
                PRIMARY KEY (scope, id)) {clustered}""",
            "CREATE INDEX runs_of_tool ON tool_runs (scope, slot, at)",
            """CREATE UNIQUE INDEX run_of_use ON tool_runs (scope, session, use_id)
                WHERE use_id <> ''""",
            # Times that the steps were done by hand though a tool was there.
            """CREATE TABLE tool_by_hand (
                scope INTEGER NOT NULL, slot TEXT NOT NULL, session TEXT NOT NULL,
                first_use TEXT NOT NULL, at INTEGER NOT NULL,
                PRIMARY KEY (scope, slot, session, first_use)) {clustered}""",
            # Each time that a workflow was judged, so that it is not done again without a reason.
            """CREATE TABLE tool_judgements (
                number {sequence}, scope INTEGER NOT NULL, workflow TEXT NOT NULL,
                decided TEXT NOT NULL, tool TEXT NOT NULL, cases INTEGER NOT NULL,
                seconds REAL NOT NULL, tokens INTEGER NOT NULL, why TEXT NOT NULL,
                at INTEGER NOT NULL)""",
            "CREATE INDEX judgements_of_workflow ON tool_judgements (scope, workflow)",
            # Files that were written for agents to read, so that the same are taken away again.
            """CREATE TABLE tool_skills (
                scope INTEGER NOT NULL, slot TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL,
                PRIMARY KEY (scope, slot, path, digest)) {clustered}""",
            # What Foundry did, in order. Reports are made of it.
            """CREATE TABLE foundry_acts (
                number {sequence}, scope INTEGER NOT NULL, what TEXT NOT NULL, subject TEXT NOT NULL,
                why TEXT NOT NULL, at INTEGER NOT NULL)""",
            "CREATE INDEX acts_of_scope ON foundry_acts (scope, number)",
            """CREATE TABLE foundry_cursors (
                scope INTEGER NOT NULL, job TEXT NOT NULL, event INTEGER NOT NULL,
                PRIMARY KEY (scope, job)) {clustered}""",
        ),
        (
            # Who wrote, or was to write: what one could not do, another may. `asked`: nobody has answered.
            "ALTER TABLE tool_judgements ADD COLUMN writer TEXT NOT NULL DEFAULT 'template'",
            "ALTER TABLE tool_judgements ADD COLUMN asked INTEGER NOT NULL DEFAULT 0",
        ),
        (
            # When a person brought it back; it counts as met then.
            "ALTER TABLE tools ADD COLUMN restored_at INTEGER NOT NULL DEFAULT 0",
        ),
    ],
    erasable=("foundry_acts",),
    changeable=(
        "tools",
        "tool_slots",
        "tool_cases",
        "tool_replays",
        "tool_deployments",
        "tool_runs",
        "tool_by_hand",
        "tool_judgements",
        "tool_skills",
        "foundry_cursors",
    ),
)
