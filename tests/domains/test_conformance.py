"""Every domain of the package through the one suite."""

from metamem.core.protocols import Domain
from metamem.domains.alfworld.domain import AlfworldDomain
from metamem.domains.baba.domain import BabaDomain
from metamem.domains.coding.domain import CodingDomain
from metamem.domains.conformance import DomainConformance
from tests.extras import needs


class TestAlfworld(DomainConformance):
    def make(self) -> Domain:
        return AlfworldDomain("generated", train=8, valid=4, test=4, shift=4)


class TestBaba(DomainConformance):
    ceiling = 0.7  # about one level in eight has no solution within the steps

    def make(self) -> Domain:
        return BabaDomain(train=12, valid=8, test=8, shift=8)


class TestCoding(DomainConformance):
    played = 1  # a repair is dozens of test runs

    def make(self) -> Domain:
        return CodingDomain(train=4, valid=2, test=2, shift=2)


class TestMiniHack(DomainConformance):
    played = 2
    ceiling = 0.5  # no plan is known for some kinds of level

    def make(self) -> Domain:
        needs("minihack")
        from metamem.domains.minihack.domain import MiniHackDomain

        return MiniHackDomain(train=8, valid=4, test=4, shift=4)


class TestTextWorld(DomainConformance):
    played = 2
    floor = 0.6  # rewards are shares of the points, and some are easily had

    def make(self) -> Domain:
        needs("textworld")
        from metamem.domains.textworld.domain import TextWorldDomain

        return TextWorldDomain(houses=2, shift_houses=1, train=4, valid=2, test=2, shift=2)
