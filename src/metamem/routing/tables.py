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
        )
    ],
    erasable=("route_decisions", "route_outcomes"),
)
