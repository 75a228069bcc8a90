"""admit: whether anything is kept of an episode."""

from metamem.designs import Experience
from metamem.designs.blocks.part import Part


class Every(Part):
    """every episode counts"""

    def admit(self, experience: Experience) -> bool:
        return True


class Successes(Part):
    """only episodes that earned a reward count"""

    def admit(self, experience: Experience) -> bool:
        return experience.reward > 0


class Failures(Part):
    """only episodes that earned nothing count"""

    def admit(self, experience: Experience) -> bool:
        return experience.reward <= 0


class Short(Part):
    """only episodes of few steps count"""

    STEPS = 20

    def admit(self, experience: Experience) -> bool:
        return len(experience.steps) <= self.STEPS


class NewGoals(Part):
    """only the first episode with a goal counts"""

    def admit(self, experience: Experience) -> bool:
        return experience.goal not in self.store
