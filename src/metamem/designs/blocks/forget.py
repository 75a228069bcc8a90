"""forget: what leaves the store when it is full."""

from metamem.designs.blocks.part import Part


class Nothing(Part):
    """nothing is forgotten"""

    def forget(self) -> None:
        return None


class Oldest(Part):
    """what was not kept again for longest goes first"""

    CAPACITY = 400

    def forget(self) -> None:
        for row in sorted(self.rows(), key=lambda row: -row.last)[self.CAPACITY :]:
            self.drop(row)


class Rarest(Part):
    """what was kept least often goes first"""

    CAPACITY = 400

    def forget(self) -> None:
        for row in sorted(self.rows(), key=lambda row: (-row.count, -row.last))[self.CAPACITY :]:
            self.drop(row)


class LeastRewarded(Part):
    """what came from the least rewarded episodes goes first"""

    CAPACITY = 400

    def forget(self) -> None:
        order = sorted(self.rows(), key=lambda row: (-row.reward / row.count, -row.last))
        for row in order[self.CAPACITY :]:
            self.drop(row)


class LeastTold(Part):
    """what was told least often goes first"""

    CAPACITY = 400

    def forget(self) -> None:
        for row in sorted(self.rows(), key=lambda row: (-row.told, -row.last))[self.CAPACITY :]:
            self.drop(row)


class LongerWays(Part):
    """of several values about the same, all but the shortest few"""

    SHORTEST = 2

    def forget(self) -> None:
        for values in list(self.store.values()):
            order = sorted(values.values(), key=lambda row: len(row.value.splitlines()))
            for row in order[self.SHORTEST :]:
                self.drop(row)
