"""What deals with an error that does not name it: services, ports, tables, pushes, compilers, stubs.

Each remedy is two patterns: what a failure says, and the commands that deal with that. A port or a service that
both of them name must be the same one.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remedy:
    """What deals with a kind of failure."""

    name: str
    says: re.Pattern[str]  # of the telling line
    does: re.Pattern[str]  # of a command


def _remedy(name: str, says: str, does: str) -> Remedy:
    return Remedy(name, re.compile(says, re.IGNORECASE), re.compile(does, re.IGNORECASE))


_BEGINS = r"start|restart|up|run"
REMEDIES = (
    _remedy(
        "a push that was rejected",
        r"\[rejected\]|fetch first|non-fast-forward|tip of your current branch is behind|failed to push some refs",
        r"^git (?:-C \S+ )?(?:pull|rebase|merge)\b",
    ),
    _remedy(
        "nobody listens",
        r"connection refused|econnrefused|could not connect|can(?:not|'t) connect|connection to server .* failed"
        r"|is the \S+ (?:daemon )?running",
        rf"^(?:docker|podman)(?:[ -]compose)? (?:\S+ )*?(?:{_BEGINS})\b|^(?:systemctl|service|brew services|supervisorctl|pg_ctl"
        rf"|pg_ctlcluster)\b.*\b(?:{_BEGINS})\b|^(?:redis-server|mongod|postgres|mysqld|dockerd|minikube start|colima start)\b",
    ),
    _remedy(
        "a port that is taken",
        r"eaddrinuse|address already in use|port (?:\d+ )?is (?:already )?(?:in use|allocated|taken)",
        r"^(?:kill|pkill|killall|fuser -k|npx kill-port|kill-port)\b|^xargs (?:-\S+ )*kill\b"
        r"|^(?:docker|podman)(?:[ -]compose)? (?:stop|rm|down|kill)\b|^(?:systemctl|service)\b.*\bstop\b",
    ),
    _remedy(
        "tables that are not there yet",
        r"no such (?:table|column)|(?:relation|table) \S+ (?:does not|doesn't) exist|unknown column"
        r"|undefined ?(?:table|column)|unapplied migration|not up to date",
        r"\b(?:alembic|flask db|sqlx|diesel|knex|sequelize|goose|dbmate)\b.*\b(?:upgrade|migrat\w*|up|run|latest)\b"
        r"|\bmanage\.py migrate\b|\b(?:rails|rake) db:migrate\b|\bprisma (?:migrate|db push)\b|\bflyway migrate\b",
    ),
    _remedy(
        "a compiler that is not there",
        r"linker [`'\"]?\w+[`'\"]? not found|no (?:acceptable )?c compiler|command '?\S*(?:gcc|cc|g\+\+)'? failed: no such"
        r"|\b(?:gcc|cc|g\+\+|c\+\+): (?:command )?not found",
        r"^(?:apt|apt-get|dnf|yum|apk|brew|conda)\b.*\b(?:install|add)\b.*\b(?:gcc|g\+\+|clang|build-essential|build-base)",
    ),
)
_SERVICES = {  # the ports that they listen at
    "postgres": "5432", "pg": "5432", "redis": "6379", "mysql": "3306", "mariadb": "3306", "mongo": "27017",
    "elasticsearch": "9200", "rabbitmq": "5672", "kafka": "9092", "memcached": "11211",
}  # fmt: skip
_PORT = re.compile(r"(?<![\d.])(\d{4,5})(?![\d.]*\d)")
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)


def remedied(telling: str, command: str) -> bool:
    """Whether a command deals with what a failure says."""
    return any(
        remedy.says.search(telling) and remedy.does.search(command) for remedy in REMEDIES
    ) and not _about_another(telling, command)


def has_remedy(telling: str) -> bool:
    return any(remedy.says.search(telling) for remedy in REMEDIES)


def _about_another(telling: str, command: str) -> bool:
    """Whether both name ports or services, and none that is the same."""
    wanted = _ports(telling)
    given = _ports(command) if not command.startswith(("kill ", "xargs")) else set()
    return bool(wanted and given) and wanted.isdisjoint(given)


def _ports(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(text)}
    known = {port for name, port in _SERVICES.items() if any(w.startswith(name) for w in words)}
    return known | set(_PORT.findall(text))
