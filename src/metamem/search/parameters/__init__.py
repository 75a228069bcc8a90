"""Proposers of parameters. Each is a function of the request alone, as every proposer is.

What an operator has learned on its way (a step width, a temperature, a distribution, which operator
pays) is made anew from the journal whenever it is asked. So it is kept wherever the journal is, and
a run that goes on after a kill goes on with it.
"""

from metamem.search.parameters.adaptive import Adaptive as Adaptive
from metamem.search.parameters.annealing import Annealing as Annealing
from metamem.search.parameters.crossover import Crossover as Crossover
from metamem.search.parameters.gaussian import Gaussian as Gaussian
from metamem.search.parameters.gaussian import step_width as step_width
from metamem.search.parameters.sample import Sample as Sample
