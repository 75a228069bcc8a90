"""Whether designs may be learned from what a scope recorded: a manager of it says so."""

from metamem.store.engine import Execute


def may_learn(execute: Execute, scope: int) -> bool:
    """Whether a manager of the scope said that designs may be learned from what is recorded."""
    return bool(execute("SELECT 1 FROM service_settings WHERE name = ?", (_allowed(scope),)))


def allow_learning(execute: Execute, scope: int, yes: bool) -> None:
    execute("DELETE FROM service_settings WHERE name = ?", (_allowed(scope),))
    if yes:
        execute(
            "INSERT INTO service_settings (name, value) VALUES (?, ?)", (_allowed(scope), "yes")
        )


def _allowed(scope: int) -> str:
    return f"learning:{scope}"
