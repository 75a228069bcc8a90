"""What of the file system the interpreter needs, and so all that the jail shows."""

import importlib.util
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# Shared libraries lie here on every distribution; secrets do not.
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


@cache
def interpreter() -> Path:
    """The real interpreter, outside any virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _module_paths(name: str) -> list[Path]:
    """A package's folder or a module's file, with the libraries that wheels put beside it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module called {name!r}", name=name)
    origin = Path(spec.origin)
    folder = origin.parent if spec.submodule_search_locations else origin
    libraries = folder.parent / f"{name}.libs"
    return [folder, libraries] if libraries.is_dir() else [folder]


def search_path(modules: Iterable[str]) -> list[str]:
    """Where the modules are imported from: the folders that hold their top packages."""
    folders = []
    for name in modules:
        folder = _module_paths(name)[0]
        folders.append(str(folder.parents[name.count(".")]))
    return list(dict.fromkeys(folders))


def interpreter_paths() -> list[Path]:
    """The interpreter, its library and the standard library."""
    library = str(sysconfig.get_config_var("INSTSONAME") or "")
    shared = [Path(sysconfig.get_config_var("LIBDIR") or "") / library] if ".so" in library else []
    return [interpreter(), *shared, Path(sysconfig.get_path("stdlib"))]


def needed(modules: Iterable[str]) -> list[Path]:
    """Every path to show. The package itself is shown in part only: tasks and oracles lie in it."""
    package = Path(__file__).parents[1]
    found = [
        *(Path(p) for p in _SYSTEM),
        *interpreter_paths(),
        package / "__init__.py",
        package / "core",
        package / "sandbox",
        *(path for name in modules for path in _module_paths(name)),
    ]
    return [path for path in dict.fromkeys(found) if path.exists()]
