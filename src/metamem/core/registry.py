"""Names → factories. Built-in names are import paths, loaded when asked for; plug-ins come in
through entry points of the group `metamem.<kind>`; a path always works: `package.module:name`, or
`folder/file.py:name` for a file that is in no package.
"""

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
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
        "dials": "metamem.domains.dials:DialsDomain",
        "routing": "metamem.domains.routing:RoutingDomain",
        "observation": "metamem.observation.domain:ObservationDomain",
    },
    "kinds": {
        "code": "metamem.evaluation.kinds.memories:MemoriesKind",
        "params": "metamem.evaluation.kinds.parameters:ParametersKind",
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
    "providers": {  # of language models
        "openai": "metamem.models.providers:OpenAI",
        "anthropic": "metamem.models.providers:Anthropic",
        "local": "metamem.models.providers:Local",
        "scripted": "metamem.models.providers:Scripted",
    },
    "executors": {
        "local": "metamem.evaluation.local:LocalExecutor",
        "inline": "metamem.evaluation.inline:InlineExecutor",
    },
    "selectors": {
        "alma": "metamem.search.selectors:AlmaSelector",
        "greedy": "metamem.search.selectors:GreedySelector",
        "clade": "metamem.search.selectors:CladeSelector",
        "niches": "metamem.search.selectors:NichesSelector",
        "pareto": "metamem.search.selectors:ParetoSelector",
        "uniform": "metamem.search.selectors:UniformSelector",
    },
    "hourly": {  # modules that the daemon runs every hour, each in a process of its own
        "foundry": "metamem.foundry.hourly:main",
        "routing": "metamem.service.routing.hourly:main",
    },
    "advisers": {  # who answers hooks beside memory
        "failures": "metamem.foundry.failures.advising:Advising",
    },
    "forgetters": {  # what is made of a log, taken out where the log lost it
        "failures": "metamem.foundry.failures.forgetting:forget",
        "lessons": "metamem.foundry.lessons.forgetting:forget",
        "tools": "metamem.foundry.tools.forgetting:forget",
        "workflows": "metamem.foundry.workflows.forgetting:forget",
    },
    "erasers": {  # of places of parts above the service, given the memory's folder
        "tools": "metamem.foundry.tools.forgetting:ToolsEraser",
    },
    "learnables": {
        "code": "metamem.search.learnables.memories:Memories",
        "params": "metamem.search.learnables.parameters:Parameters",
    },
    "shelves": {  # what a request can be given to read beside its own evidence: text of a name
        "knowledge": "metamem.knowledge.shelf:lay_out",
    },
    "proposers": {
        "recombine": "metamem.search.recombine:Recombine",
        "random": "metamem.search.recombine:RandomRecombine",
        "llm": "metamem.search.llm:LlmProposer",
        "handoff": "metamem.search.handoff:Handoff",
        "gaussian": "metamem.search.parameters:Gaussian",
        "annealing": "metamem.search.parameters:Annealing",
        "crossover": "metamem.search.parameters:Crossover",
        "adaptive": "metamem.search.parameters:Adaptive",
        "tpe": "metamem.search.parameters.tpe:Tpe",
        "cmaes": "metamem.search.parameters.cma:CmaEs",
        "sample": "metamem.search.parameters:Sample",
    },
}

# What is made of somebody's own data and is nothing without: named with it (`scope:acme/team/shop`),
# and in no list.
OF_DATA: dict[str, dict[str, str]] = {
    "domains": {"scope": "metamem.service.designs.domain:ScopeDomain"},
    "agents": {"router": "metamem.agents.router:RouterAgent"},  # `router:reader,explorer`
}

# Without these nothing of that kind can be used; asked for at once, since anybody writes one.
PARTS: dict[str, tuple[str, ...]] = {"domains": ("name", "kind", "version", "tasks", "describe")}


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
    name, _ = spelled_out(kind, name, {})
    path = BUILT_IN.get(kind, {}).get(name) or OF_DATA.get(kind, {}).get(name)
    path = path or plug_ins(kind).get(name)
    if path is None and ":" in name:
        path = name
    if path is None and name.endswith(".py"):
        raise UnknownName(
            f"no {kind[:-1]} called {name!r}", hint=f"say which of the file: {name}:NAME"
        )
    if path is None:
        known = names(kind)
        raise UnknownName(
            f"no {kind[:-1]} called {name!r}", hint=f"{guess(name, known)}known: {', '.join(known)}"
        )
    module_name, _, attribute = path.rpartition(":") if _in_file(path) else path.partition(":")
    try:
        module = _loaded(module_name) if _in_file(path) else importlib.import_module(module_name)
        found: Factory = getattr(module, attribute)
    except (ImportError, AttributeError) as error:
        raise MetamemError(
            f"the {kind[:-1]} {name!r} cannot be loaded from {path}: {error}",
            hint="install what it needs, or correct the path",
        ) from error
    return found


def guess(name: str, known: Sequence[str]) -> str:
    """The beginning of a hint: which of the known names somebody may have meant."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def spelled_out(kind: str, name: str, settings: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """A name and settings, where the name may say the data: `scope:S` is `scope` with `data=S`."""
    head, colon, data = name.partition(":")
    if not colon or head not in OF_DATA.get(kind, {}):
        return name, settings
    if settings.get("data", data) != data:
        raise UsageError(f"{name!r} says which data, and so does the setting: {settings['data']!r}")
    return head, {**settings, "data": data}


def pinned(kind: str, name: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What to write down, so that the same is made of it later and elsewhere. Data that grows is
    taken as it is at this moment."""
    name, settings = spelled_out(kind, name, settings)
    pin = getattr(factory(kind, name), "pinned", None)
    return name, dict(settings if pin is None else pin(settings))


def settled(name: str) -> str:
    """A name that means the same in every folder and process: a file by its whole path."""
    if not _in_file(name):
        return name
    file, _, attribute = name.rpartition(":")
    return f"{Path(file).absolute()}:{attribute}"


def portable(name: str) -> str:
    """A name that is the same wherever a file lies: what luck and records may depend on."""
    return name.rpartition("/")[2] if _in_file(name) else name


def _in_file(name: str) -> bool:
    return name.rpartition(":")[0].endswith(".py")


def _loaded(file: str) -> ModuleType:
    """The module in a file, loaded once. What it needs from other files must be importable."""
    path = Path(file).absolute()
    name = f"{path.stem} in {path.parent}"  # which no import statement can mean
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses look there for their own module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception) or isinstance(error, MetamemError | ImportError):
            raise
        raise MetamemError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def plain(name: str) -> str:
    """A name for people: of a path, what it names there."""
    return name.rpartition(":")[2]


def create(kind: str, name: str, **settings: Any) -> Any:
    """Make the thing a name stands for. Wrong settings are the caller's error, said plainly."""
    name, given = spelled_out(kind, name, settings)
    make = factory(kind, name)
    try:
        made = make(**given)
    except TypeError as error:
        if "argument" in str(error):
            why = str(error).rpartition("() ")[2]
            raise UsageError(
                f"the {kind[:-1]} {name!r} was given wrong settings: {why}",
                hint=f"it takes: {', '.join(defaults(make)) or 'nothing'}",
            ) from error
        raise
    if missing := [part for part in PARTS.get(kind, ()) if not hasattr(made, part)]:
        raise MetamemError(
            f"{name!r} is no {kind[:-1]}: it has no {missing[0]!r}",
            hint=f"docs/adding-a-{kind[:-1]}.md shows a whole one",
        )
    return made


def defaults(make: Factory) -> dict[str, Any]:
    """The settings that a factory names, each as it is where nothing else is said."""
    named = inspect.signature(make).parameters.values()
    return {p.name: p.default for p in named if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
