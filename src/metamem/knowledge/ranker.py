"""From features to an order: trees that were trained on other packages than any that is measured.

`python -m bench.train_knowledge` makes the file anew.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from metamem.core.errors import DataError
from metamem.core.trees import Trees
from metamem.knowledge.features import NAMES
from metamem.knowledge.lexical import Floats

FORMAT = 1
FILE = "ranker.json"


@dataclass(frozen=True, slots=True)
class Ranker:
    trees: Trees
    made: Mapping[str, object]  # of what and how it was trained

    def score(self, rows: Floats) -> Floats:
        """How well each row answers, from 0 to 1; to be compared within one question."""
        odds: Floats = np.exp(-self.trees.sum(rows))
        return np.float32(1) / (np.float32(1) + odds)


def parsed(text: str) -> Ranker:
    content = json.loads(text)
    if content["format"] != FORMAT or tuple(content["features"]) != NAMES:
        raise DataError(
            "the ranker of knowledge was trained on other features than these",
            hint="python -m bench.train_knowledge makes it anew",
        )
    return Ranker(Trees.read(content["trees"]), content["made"])


@cache
def shipped() -> Ranker:
    """The ranker that the package brings."""
    return parsed((files(__package__) / FILE).read_text(encoding="utf-8"))
