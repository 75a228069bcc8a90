"""The settings of observational memory, learned like any other parameters."""

from metamem.observation.domain import ObservationDomain

__all__ = ["ObservationDomain"]
