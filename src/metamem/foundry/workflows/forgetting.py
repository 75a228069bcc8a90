"""What was made of calls that are no longer in the log goes with them, in every scope.

It runs inside the transaction of an erasure, after calls were taken out. A workflow that others did as well
stays, with their goals and examples.
"""

from collections.abc import Mapping

from metamem.foundry.workflows.store import erase
from metamem.foundry.workflows.tables import WORKFLOWS
from metamem.store.engine import Execute
from metamem.store.schema import VERSION_TABLE


def forget(execute: Execute) -> Mapping[str, int]:
    """How many occurrences went. None where the tables were never made."""
    if not execute(f"SELECT 1 FROM {VERSION_TABLE} WHERE component = ?", (WORKFLOWS.name,)):
        return {"workflows": 0}
    lost = execute(
        "SELECT scope, session, COUNT(DISTINCT first_use) FROM workflow_uses WHERE NOT EXISTS"
        " (SELECT 1 FROM calls c WHERE c.scope = workflow_uses.scope"
        " AND c.session = workflow_uses.session AND c.id = workflow_uses.use_id)"
        " GROUP BY scope, session"
    )
    for scope, session, _ in lost:
        erase(execute, scope, session)
    execute(
        "DELETE FROM workflow_successors WHERE NOT EXISTS"
        " (SELECT 1 FROM calls c WHERE c.scope = workflow_successors.scope)"
    )
    return {"workflows": sum(count for _, _, count in lost)}
