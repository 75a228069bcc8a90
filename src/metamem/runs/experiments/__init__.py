"""Experiments: hypotheses about memory in a domain, tested in an order, each opening the next."""

from metamem.runs.experiments.experiment import experiment as experiment
from metamem.runs.experiments.hypotheses import HYPOTHESES as HYPOTHESES
from metamem.runs.experiments.power import Power as Power
from metamem.runs.experiments.records import Experiment as Experiment
from metamem.runs.experiments.records import experiments as experiments
from metamem.runs.experiments.terms import Terms as Terms
