"""Memories as the host keeps them: a running design, the log it learns from, and its snapshots."""

from metamem.hosting.feeding import CallSiteOf
from metamem.hosting.log import FileLog
from metamem.hosting.memory import HostedMemory, Rollout
from metamem.hosting.models import Answering, CallSites, RecordedModel
from metamem.hosting.opening import open_kept, open_unkept
from metamem.hosting.snapshots import SnapshotFolder

__all__ = [
    "Answering",
    "CallSiteOf",
    "CallSites",
    "FileLog",
    "HostedMemory",
    "RecordedModel",
    "Rollout",
    "SnapshotFolder",
    "open_kept",
    "open_unkept",
]
