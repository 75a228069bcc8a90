"""All that can be asked of a memory service over the network."""

from typing import Any

from metamem.service import (
    verbs,
    verbs_keys,
    verbs_people,
    verbs_routing,
    verbs_scopes,
    verbs_served,
)
from metamem.service.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *verbs.OPERATIONS,
    *verbs_scopes.OPERATIONS,
    *verbs_people.OPERATIONS,
    *verbs_keys.OPERATIONS,
    *verbs_served.OPERATIONS,
    *verbs_routing.OPERATIONS,
)
