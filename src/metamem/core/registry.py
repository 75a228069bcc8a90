"""Names → factories. Built-in names are import paths, loaded when asked for; plug-ins come in
through entry points of the group `metamem.<kind>`; a path `package.module:name` always works.
"""

import difflib
import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from metamem.core.errors import MetamemError, UnknownName, UsageError

Factory = Callable[..., Any]

BUILT_IN: dict[str, dict[str, str]] = {
    "domains": {
        "toy": "metamem.domains.toy:ToyDomain",
        "alfworld": "metamem.domains.alfworld.domain:AlfworldDomain",
        "textworld": "metamem.domains.textworld.domain:TextWorldDomain",
        "baba": "metamem.domains.baba.domain:BabaDomain",
        "minihack": "metamem.domains.minihack.domain:MiniHackDomain",
        "coding": "metamem.domains.coding.domain:CodingDomain",
        "dialogue": "metamem.domains.dialogue.domain:DialogueDomain",
        "gymnasium": "metamem.domains.gymnasium:GymnasiumDomain",
    },
    "agents": {
        "reader": "metamem.agents.reader:Reader",
        "explorer": "metamem.agents.explorer:Explorer",
        "repair": "metamem.agents.repair:Repair",
        "relay": "metamem.agents.relay:Relay",
        "llm": "metamem.agents.llm:LlmAgent",
        "random": "metamem.agents.random_agent:RandomAgent",
    },
    "embedders": {
        "auto": "metamem.models:default_embedder",
        "wordllama": "metamem.models.wordllama_embedder:WordLlamaEmbedder",
        "hashed": "metamem.models.hashed_embedder:HashedEmbedder",
        "use": "metamem.models.use_embedder:UseEmbedder",
        "minilm": "metamem.models.minilm_embedder:MiniLMEmbedder",
    },
    "executors": {
        "local": "metamem.evaluation.local:LocalExecutor",
        "inline": "metamem.evaluation.inline:InlineExecutor",
    },
    "selectors": {
        "alma": "metamem.search.selectors:AlmaSelector",
        "greedy": "metamem.search.selectors:GreedySelector",
        "clade": "metamem.search.selectors:CladeSelector",
        "pareto": "metamem.search.selectors:ParetoSelector",
        "uniform": "metamem.search.selectors:UniformSelector",
    },
    "proposers": {
        "recombine": "metamem.search.recombine:Recombine",
        "random": "metamem.search.recombine:RandomRecombine",
        "llm": "metamem.search.llm:LlmProposer",
        "handoff": "metamem.search.handoff:Handoff",
    },
}


def plug_ins(kind: str) -> Mapping[str, str]:
    """Names that installed packages bring, and what each stands for."""
    return _entries(kind, tuple(sys.path))


@cache
def _entries(kind: str, path: tuple[str, ...]) -> Mapping[str, str]:
    # To look costs some 20 ms, and what is installed changes only with the path, if at all.
    return {e.name: e.value for e in entry_points(group=f"metamem.{kind}")}


def names(kind: str) -> list[str]:
    """Every name known for a kind, built-in and plugged in."""
    return sorted({*BUILT_IN.get(kind, {}), *plug_ins(kind)})


def factory(kind: str, name: str) -> Factory:
    """The factory behind a name, or a clear refusal that lists what there is."""
    path = BUILT_IN.get(kind, {}).get(name) or plug_ins(kind).get(name)
    if path is None and ":" in name:
        path = name
    if path is None:
        known = names(kind)
        close = difflib.get_close_matches(name, known, n=1)
        guess = f"did you mean {close[0]!r}? " if close else ""
        raise UnknownName(
            f"no {kind[:-1]} called {name!r}", hint=f"{guess}known: {', '.join(known)}"
        )
    module_name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(module_name)
        found: Factory = getattr(module, attribute)
    except (ImportError, AttributeError) as error:
        raise MetamemError(
            f"the {kind[:-1]} {name!r} cannot be loaded from {path}: {error}",
            hint="install what it needs, or correct the path",
        ) from error
    return found


def plain(name: str) -> str:
    """A name for people: of a path, what it names there."""
    return name.rpartition(":")[2]


def create(kind: str, name: str, **settings: Any) -> Any:
    """Make the thing a name stands for. Wrong settings are the caller's error, said plainly."""
    make = factory(kind, name)
    try:
        return make(**settings)
    except TypeError as error:
        if "argument" in str(error):
            raise UsageError(
                f"the {kind[:-1]} {name!r} was given wrong settings: {error}"
            ) from error
        raise
