"""The toy domain through the suite that every domain is put through."""

from metamem.domains.toy import ToyDomain
from metamem.evaluation.domain_conformance import DomainConformance


class TestToy(DomainConformance):
    def make(self) -> ToyDomain:
        return ToyDomain()
