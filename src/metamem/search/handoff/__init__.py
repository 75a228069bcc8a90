"""Hand-off: whoever can read and write files is the proposer, such as a coding agent."""

from metamem.search.handoff.place import run_folder
from metamem.search.handoff.proposer import Handoff

__all__ = ["Handoff", "run_folder"]
