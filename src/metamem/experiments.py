"""Experiments from Python: hypotheses about memory in a domain, each opening the next.

    found = metamem.experiment("coding", "H1")
    found.passed, found.reason, found.power

The command line is a thin layer on it: `metamem experiment`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from metamem.api import LOCAL, RULES, find_design, open_home
from metamem.core.aside import aside
from metamem.core.blocking import blocking
from metamem.core.progress import Progress, Silent
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.models.allowance import Allowance
from metamem.runs.experiments import Experiment, Terms
from metamem.runs.experiments import experiment as played
from metamem.runs.experiments.lab import Lab
from metamem.runs.settings import NO_MODELS, NO_SETTINGS, Models, conditions

USUAL = Terms()


async def experiment_async(
    domain: str,
    hypothesis: str,
    *,
    terms: Terms = USUAL,
    only_plan: bool = False,
    home: str | Path | None = None,
    executor: Spec = LOCAL,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
    rules: Rules = RULES,
    models: Models = NO_MODELS,
    allowance: Allowance | None = None,
    domain_settings: Mapping[str, Any] = NO_SETTINGS,
    **settings: Any,
) -> Experiment:
    """Test a hypothesis in a domain, or go on with that. `settings` are those of `metamem.evaluate`.

    What is about to be played, and what it could show, is told to `tell` before. Refused, and kept as
    such, where the hypothesis before has not passed under the same conditions.
    """
    watch = progress or Silent()
    config, beyond = conditions(domain, rules, models, domain_settings=domain_settings, **settings)
    with await aside(open_home, home) as archive:
        named = {name: await aside(find_design, name, archive) for name in terms.designs}
        lab = Lab(
            archive,
            config,
            terms,
            named,
            beyond=beyond,
            executor=executor,
            progress=watch,
            allowance=allowance or Allowance(),
            tell=tell or watch.note,
        )
        return await played(lab, hypothesis, only_plan=only_plan)


experiment = blocking(experiment_async)
