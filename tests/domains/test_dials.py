"""The toy domain of parameters through the suite that every such domain is put through."""

from metamem.domains.conformance import ParamsConformance
from metamem.domains.dials import DialsDomain


class TestDials(ParamsConformance):
    def make(self) -> DialsDomain:
        return DialsDomain()
