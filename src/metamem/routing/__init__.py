"""Routing: which arm, an agent or a model, gets which task. Plain maths over a log of decisions."""

from metamem.routing.choosing import Router
from metamem.routing.settings import SPACE, Settings
from metamem.routing.words import Arm, Belief, Choice, Context, Outcome, Seen

__all__ = ["SPACE", "Arm", "Belief", "Choice", "Context", "Outcome", "Router", "Seen", "Settings"]
