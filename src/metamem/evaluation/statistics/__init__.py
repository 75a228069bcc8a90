"""Statistics of per-task rewards. The task is the unit; its repeats are averaged before."""

from metamem.evaluation.statistics.binomial import binomial_lower_bound, binomial_tail
from metamem.evaluation.statistics.comparison import (
    Comparison,
    HolmComparison,
    holm_corrected,
    paired_comparison,
    paired_differences,
)
from metamem.evaluation.statistics.effects import (
    cohens_d,
    detectable,
    hedges_g,
    power_hint,
    superiority,
    tasks_needed,
)
from metamem.evaluation.statistics.intervals import (
    bootstrap_interval,
    lower_bound,
    standard_error,
    t_interval,
    upper_bound,
)
from metamem.evaluation.statistics.paired import paired_t, sign_flip, wilcoxon
from metamem.evaluation.statistics.samples import Side, Significance
from metamem.evaluation.statistics.trend import Trend, rise_error, trend
from metamem.evaluation.statistics.unpaired import holm, welch, welch_from_summary

__all__ = [
    "Comparison",
    "HolmComparison",
    "Side",
    "Significance",
    "Trend",
    "binomial_lower_bound",
    "binomial_tail",
    "bootstrap_interval",
    "cohens_d",
    "detectable",
    "hedges_g",
    "holm",
    "holm_corrected",
    "lower_bound",
    "paired_comparison",
    "paired_differences",
    "paired_t",
    "power_hint",
    "rise_error",
    "sign_flip",
    "standard_error",
    "superiority",
    "t_interval",
    "tasks_needed",
    "trend",
    "upper_bound",
    "welch",
    "welch_from_summary",
    "wilcoxon",
]
