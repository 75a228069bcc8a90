"""Quick scores are bounded: each design of a run's budget brings so many cases for them.

What was spent lies in the archive, one entry each time, so it survives every restart and nobody
who writes in the work folder can take it back. Cases are taken before they are played.
"""

import json
import secrets
from dataclasses import dataclass

from metamem.core.errors import StoreError, UsageError
from metamem.core.ids import content_id
from metamem.store.archive import Archive

PER_DESIGN = 40  # cases: about two looks at twenty tasks
TASKS = 20  # of one quick score, unless somebody says otherwise


@dataclass(frozen=True, slots=True)
class QuickCases:
    """The allowance of one run."""

    archive: Archive
    run: str
    designs: int  # of the budget; where that has none, the requests so far

    @property
    def allowed(self) -> int:
        return PER_DESIGN * self.designs

    @property
    def left(self) -> int:
        return max(0, self.allowed - sum(self._spent()))

    def require(self, cases: int) -> None:
        """Refuse what cannot be paid, before anything is done for it."""
        if cases > (left := self.left):
            raise UsageError(
                f"{cases} cases for a quick score were asked for; {left} are left of the"
                f" {self.allowed} of this run",
                hint="ask for fewer tasks" if left > 1 else "check without a score, or submit",
            )

    def take(self, cases: int) -> None:
        """Spend them, or refuse. Of several who take at once, each sees what the others took."""
        while True:
            spent = self._spent()
            self.require(cases)
            entry = json.dumps({"cases": cases, "by": secrets.token_hex(8)}).encode()
            try:
                if self.archive.put_blob(self._name(len(spent)), entry):
                    return
            except StoreError:
                continue  # somebody else was quicker: look again

    def _spent(self) -> list[int]:
        found: list[int] = []
        while (entry := self.archive.blob(self._name(len(found)))) is not None:
            found.append(int(json.loads(entry)["cases"]))
        return found

    def _name(self, number: int) -> str:
        return content_id("quick cases", self.run, number)
