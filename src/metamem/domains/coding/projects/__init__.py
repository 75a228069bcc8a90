"""Small projects with faults in them: the data of the coding domain.

Eight projects give the train, valid and test splits; four more are seen in the shift split alone.
"""

from metamem.domains.coding.projects.bug import Bug
from metamem.domains.coding.projects.deal import SIZES, bugs, kinds, version
from metamem.domains.coding.projects.habits import Habits, projects

__all__ = ["SIZES", "Bug", "Habits", "bugs", "kinds", "projects", "version"]
