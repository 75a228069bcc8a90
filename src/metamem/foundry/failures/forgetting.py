"""What was made of calls that are no longer in the log goes with them, in every scope.

It runs inside the transaction of an erasure, after calls were taken out. What other sessions said as well
stays, in their words.
"""

from collections.abc import Mapping

from metamem.foundry.failures.store import recount
from metamem.foundry.failures.tables import FAILURES
from metamem.store.engine import Execute
from metamem.store.schema import VERSION_TABLE


def forget(execute: Execute) -> Mapping[str, int]:
    """How many occurrences and moments went. None where the tables were never made."""
    here = f"SELECT 1 FROM {VERSION_TABLE} WHERE component = ?"
    if not execute(here, (FAILURES.name,)):
        return {"failures": 0, "suggestions": 0}
    gone = execute(
        "DELETE FROM failure_occurrences WHERE NOT EXISTS (SELECT 1 FROM calls c"
        " WHERE c.scope = failure_occurrences.scope AND c.session = failure_occurrences.session"
        " AND c.id = failure_occurrences.use_id) RETURNING scope, signature"
    )
    for scope, named in sorted(set(gone)):
        recount(execute, scope, named)
    moments = execute(
        "DELETE FROM suggestion_moments WHERE NOT EXISTS (SELECT 1 FROM calls c"
        " WHERE c.scope = suggestion_moments.scope AND c.session = suggestion_moments.session)"
        " RETURNING 1"
    )
    return {"failures": len(gone), "suggestions": len(moments)}
