"""Seven small projects with faults in them: the data of the coding domain.

Six projects give the train, valid and test splits; the seventh is seen in the shift split alone.
"""

from metamem.domains.coding.projects.bug import Bug
from metamem.domains.coding.projects.deal import SIZES, bugs, version
from metamem.domains.coding.projects.tree import PROJECTS, UNSEEN, clean_tree

__all__ = ["PROJECTS", "SIZES", "UNSEEN", "Bug", "bugs", "clean_tree", "version"]
