"""Bodies that can be sent as they are, for the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

_SHOP = "acme/project/webshop"
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "remember": {
        "scope": _SHOP,
        "drafts": [
            {"text": "We deploy from the release branch only.", "type": "decision"},
            {"text": "The tests need PostgreSQL 16 on port 5433.", "source": "tool"},
        ],
    },
    "edit": {"text": "The tests need PostgreSQL 17 on port 5433.", "reason": "upgraded"},
    "forget": {"reason": "no longer true"},
    "restore": {"reason": "it is true after all"},
    "ingest": {
        "scope": _SHOP,
        "id": "2026-11-18-1",
        "host": "claude-code",
        "turns": [
            {"speaker": "Ada", "text": "Why does the login test fail?"},
            {"speaker": "assistant", "text": "The clock of the fixture is UTC.", "source": "agent"},
        ],
    },
    "recall": {"query": "which database do the tests need?", "scopes": [_SHOP], "limit": 5},
    "feedback": {"fact": "f019a2b3c4d5e6f708192a3b4c5d6", "verdict": "useful"},
    "erase": {"scope": _SHOP, "reason": "asked for by mail", "person": "Ada"},
    "advise": {
        "scope": _SHOP,
        "goal": "mend billing",
        "observation": "the job ended with exit code 3",
        "session": "2026-11-18-1",
    },
    "experience": {
        "scope": _SHOP,
        "experience": {
            "goal": "mend billing",
            "steps": [{"action": "restart the worker", "observation": "it runs", "reward": 1.0}],
            "reward": 1.0,
        },
        "moment": "m019a2b3c4d5e6f708192a3b4c5d6",
    },
    "compare": {"design": "3f9ac2d1", "share": 0.5},
    "route": {
        "scope": _SHOP,
        "task": "repair the failing test of the parser",
        "arms": [{"name": "small-model", "cost": 0.02}, {"name": "large-model", "cost": 0.4}],
        "tags": {"language": "python"},
    },
    "reward": {"success": 1.0, "cost": 0.03, "latency": 41.5},
    "add_scope": {"scope": "acme/team/payments", "visibility": "shared"},
    "share": {"visibility": "shared"},
    "set_settings": {"settings": {"most_facts": 100000}},
    "grant": {"role": "writer"},
    "add_person": {"name": "grace", "kind": "person"},
    "set_role": {"role": "auditor"},
    "set_team": {"members": ["ada", "grace"]},
    "make_key": {"label": "laptop", "rights": ["read", "write"], "scopes": [_SHOP]},
    "rotate_key": {"overlap_ms": 3600000},
}
