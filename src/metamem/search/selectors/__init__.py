"""Who becomes a parent. Each selector is a pure function of the archive and a seed."""

from metamem.search.selectors.alma import AlmaSelector
from metamem.search.selectors.candidate import Candidate, Selector
from metamem.search.selectors.clade import CladeSelector
from metamem.search.selectors.niches import NichesSelector
from metamem.search.selectors.pareto import ParetoSelector
from metamem.search.selectors.plain import GreedySelector, UniformSelector

__all__ = [
    "AlmaSelector",
    "Candidate",
    "CladeSelector",
    "GreedySelector",
    "NichesSelector",
    "ParetoSelector",
    "Selector",
    "UniformSelector",
]
