"""A log of calls that keeps what designs ask and forgets what the agent asks.

Hundreds of thousands of questions with worked examples in front would make a home too large to be
carried about. A case that was interrupted is then played anew; finished ones are rows, and stay.
"""

from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord, Spending
from metamem.models.sending import CallLog

FORGOTTEN = -1  # the number of an attempt that nobody keeps


class Light:
    def __init__(self, log: CallLog) -> None:
        self._log = log

    def begin_attempt(self, attempt: AttemptRecord) -> int:
        return FORGOTTEN if attempt.role == "agent" else self._log.begin_attempt(attempt)

    def end_attempt(self, number: int, end: AttemptEnd, call: CallRecord | None = None) -> None:
        if number != FORGOTTEN:
            self._log.end_attempt(number, end, call)

    def call(self, key: str) -> CallRecord | None:
        return self._log.call(key)

    def put_blob(self, blob_id: str, content: bytes) -> bool:
        return self._log.put_blob(blob_id, content)

    def blob(self, blob_id: str) -> bytes | None:
        return self._log.blob(blob_id)

    def spending(self, run_id: str | None = None) -> list[Spending]:
        return self._log.spending(run_id)
