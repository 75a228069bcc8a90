"""Jobs over a scope: one process at a time, going on where the last one stopped."""

import secrets
from dataclasses import dataclass, field

from metamem.core.errors import Busy
from metamem.service.database import Database, now_ms
from metamem.store.engine import Execute

LEASE = 120_000  # milliseconds that a job is held without a sign of life


@dataclass(frozen=True, slots=True)
class Lease:
    """A job that this process holds. Each step extends it and moves the cursor on."""

    database: Database
    job: str
    scope: int
    holder: str = field(default_factory=lambda: secrets.token_hex(8))

    def take(self, *, over: bool = False) -> int:
        """Hold the job: its cursor. `Busy` where another process is at it, unless it is taken over:
        then that one's next step fails and enters nothing."""
        now = now_ms()
        with self.database.writing() as execute:
            self.database.alone(execute, f"job {self.job} {self.scope}")
            rows = execute(
                "SELECT position, held_by, held_until FROM jobs WHERE name = ? AND scope = ?",
                (self.job, self.scope),
            )
            if not rows:
                execute(
                    "INSERT INTO jobs (name, scope, position, held_by, held_until, ran, acted, at)"
                    " VALUES (?, ?, 0, ?, ?, 0, 0, ?)",
                    (self.job, self.scope, self.holder, now + LEASE, now),
                )
                return 0
            position, held_by, held_until = rows[0]
            if held_by != self.holder and held_until > now and not over:
                raise Busy(f"another process is at the job {self.job} of this scope")
            execute(
                "UPDATE jobs SET held_by = ?, held_until = ? WHERE name = ? AND scope = ?",
                (self.holder, now + LEASE, self.job, self.scope),
            )
            return int(position)

    def move(self, execute: Execute, position: int, acted: int) -> None:
        """Inside the transaction that does the work: the cursor goes on, if the job is still held."""
        now = now_ms()
        moved = execute(
            "UPDATE jobs SET position = ?, held_until = ?, ran = ran + 1, acted = acted + ?, at = ?"
            " WHERE name = ? AND scope = ? AND held_by = ? RETURNING 1",
            (position, now + LEASE, acted, now, self.job, self.scope, self.holder),
        )
        if not moved:
            raise Busy(f"another process took over the job {self.job} of this scope")

    def give_back(self) -> None:
        with self.database.writing() as execute:
            execute(
                "UPDATE jobs SET held_by = '', held_until = 0"
                " WHERE name = ? AND scope = ? AND held_by = ?",
                (self.job, self.scope, self.holder),
            )
