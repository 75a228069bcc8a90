"""Whether a domain has the tasks that a learning run needs; told before anything is spent."""

from metamem.core.errors import UsageError
from metamem.core.protocols import Domain
from metamem.core.types import SPLITS
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.search.learnables import learnable_of

NEEDED = (
    "a run needs at least 2 tasks of train (half to learn from, half to search on), {fewest} of"
    " valid for anything to be promoted, and 1 of test and of shift"
)


def readiness(domain: Domain, rules: Rules) -> str:
    """Refuse a domain in which a run cannot come to its end. What to know before one begins;
    empty where nothing stands in its way.
    """
    fewest = learnable_of(domain).rule(domain).fewest_tasks
    counts = {split: len(domain.tasks(split)) for split in SPLITS}
    empty = [split for split, count in counts.items() if count < (2 if split == "train" else 1)]
    if empty:
        has = ", ".join(f"{split} {count}" for split, count in counts.items())
        raise UsageError(
            f"{domain.name} has too few tasks in {' and '.join(empty)} for a run ({has})",
            hint=NEEDED.format(fewest=fewest),
        )
    played = {split: len(plan(domain, split, rules).deployment) for split in SPLITS}
    if played["valid"] >= fewest:
        return ""
    return (
        f"Nothing can be promoted in this run: the gate asks for {fewest} tasks of valid, and"
        f" {domain.name} has {played['valid']}. The run will search and report all the same."
    )
