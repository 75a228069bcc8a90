"""Tables of workflows. Uses and successes are made of occurrences, so that what is mined twice counts once."""

from metamem.store.schema import Component

WORKFLOWS = Component(
    name="workflows",
    steps=[
        (
            """CREATE TABLE workflows (
                scope INTEGER NOT NULL, id TEXT NOT NULL, goal TEXT NOT NULL, steps TEXT NOT NULL,
                parameters TEXT NOT NULL, uses INTEGER NOT NULL, successes INTEGER NOT NULL,
                sessions INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
                archived INTEGER NOT NULL, PRIMARY KEY (scope, id)) {clustered}""",
            # One place where a workflow was carried out, known by its first use.
            """CREATE TABLE workflow_occurrences (
                scope INTEGER NOT NULL, session TEXT NOT NULL, first_use TEXT NOT NULL,
                workflow TEXT NOT NULL, uses TEXT NOT NULL, given TEXT NOT NULL,
                wording TEXT NOT NULL, success INTEGER NOT NULL, at INTEGER NOT NULL,
                PRIMARY KEY (scope, session, first_use)) {clustered}""",
            "CREATE INDEX occurrences_of_workflow ON workflow_occurrences (scope, workflow)",
            # A use belongs to one occurrence.
            """CREATE TABLE workflow_uses (
                scope INTEGER NOT NULL, session TEXT NOT NULL, use_id TEXT NOT NULL,
                first_use TEXT NOT NULL, PRIMARY KEY (scope, session, use_id)) {clustered}""",
            # What a workflow became that was found again with other steps or parameters.
            """CREATE TABLE workflow_successors (
                scope INTEGER NOT NULL, id TEXT NOT NULL, successor TEXT NOT NULL,
                PRIMARY KEY (scope, id)) {clustered}""",
        ),
        (
            # When a person brought it back; it counts as met then.
            "ALTER TABLE workflows ADD COLUMN restored_at INTEGER NOT NULL DEFAULT 0",
        ),
    ],
    changeable=("workflows", "workflow_occurrences", "workflow_uses", "workflow_successors"),
)
