"""Tables of routing: decisions as they were made, and what came of them. Neither is ever changed."""

from metamem.store.schema import Component

ROUTING = Component(
    name="routing",
    steps=[
        (
            # `beliefs` has the odds of every arm that was allowed; `number` counts a router's own.
            """CREATE TABLE route_decisions (
                seq {sequence}, id TEXT NOT NULL UNIQUE, scope INTEGER NOT NULL, router TEXT NOT NULL,
                number INTEGER NOT NULL, at INTEGER NOT NULL, who TEXT NOT NULL, context TEXT NOT NULL,
                beliefs TEXT NOT NULL, speaks TEXT NOT NULL, settings TEXT NOT NULL,
                arm TEXT NOT NULL, propensity REAL NOT NULL, UNIQUE (scope, router, number))""",
            # One for a decision: the first that is told stays.
            """CREATE TABLE route_outcomes (
                seq {sequence}, decision TEXT NOT NULL UNIQUE, scope INTEGER NOT NULL,
                router TEXT NOT NULL, at INTEGER NOT NULL, who TEXT NOT NULL,
                success REAL NOT NULL, cost REAL NOT NULL, latency REAL NOT NULL)""",
            "CREATE INDEX outcomes_of_router ON route_outcomes (scope, router, seq)",
        ),
        (
            # A change of settings that was watched then, if any, and whether the task was held back
            # from it: decided with the settings before it.
            "ALTER TABLE route_decisions ADD COLUMN watched TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE route_decisions ADD COLUMN held_back INTEGER NOT NULL DEFAULT 0",
            "CREATE INDEX decisions_watched ON route_decisions (watched) WHERE watched <> ''",
        ),
    ],
    erasable=("route_decisions", "route_outcomes"),
)
