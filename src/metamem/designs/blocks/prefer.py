"""prefer: which rows come first."""

from metamem.designs.blocks.part import Part, Row


class Frequent(Part):
    """what was kept most often first"""

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        return (row.count,)


class Closest(Part):
    """the best match first"""

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        return (score,)


class Latest(Part):
    """what was kept last first"""

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        return (row.last,)


class Rewarded(Part):
    """what came from the best rewarded episodes first"""

    DOUBT = 1.0

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        return (row.reward / (row.count + self.DOUBT),)


class Shortest(Part):
    """the fewest lines first"""

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        return (-row.value.count("\n"),)


class Distinctive(Part):
    """what was kept more often about this than about other things first"""

    DOUBT = 1.0

    def prefer(self, row: Row, score: float) -> tuple[float, ...]:
        return (row.count / (self.values[row.value] + self.DOUBT),)
