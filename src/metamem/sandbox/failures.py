"""How guests of the jail fail, in words that fit any guest: who uses the jail says what that means."""

from typing import Literal

# crash: an exception, a signal, an exit, a closed channel; timeout: CPU time; wall: wall time;
# memory; limit: messages or questions; protocol: what no honest guest says; closed: by the host.
Kind = Literal["crash", "timeout", "wall", "memory", "limit", "protocol", "closed"]


class GuestFailure(Exception):
    """The guest's own fault, or its end by the host. The guest is of no further use, unless it
    reported the failure itself."""

    def __init__(self, what: str, kind: str, *, reported: bool = False) -> None:
        """`what` it did, after the words "the guest", or what it said itself (`reported`).

        The kind is a `Kind`, or where it was reported one of those that its program may use.
        """
        super().__init__(what if reported else f"the guest {what}")
        self.what, self.kind, self.reported = what, kind, reported
