"""The toy domain through the suite that every domain is put through."""

from metamem.domains.conformance import DomainConformance
from metamem.domains.toy import ToyDomain


class TestToy(DomainConformance):
    def make(self) -> ToyDomain:
        return ToyDomain()
