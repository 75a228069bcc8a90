"""Keys of providers: from the environment or a key file, and never anywhere else."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from metamem.core.errors import UsageError
from metamem.models.provider import provider_of
from metamem.models.spec import ModelSpec

FILE_VARIABLE = "METAMEM_KEY_FILE"


class Key:
    """A secret that does not print."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def hide_in(self, text: str) -> str:
        """The text without the key: providers like to quote it in their errors."""
        return text.replace(self._value, "***") if self._value else text

    def __repr__(self) -> str:
        return "Key(***)"

    __str__ = __repr__


def address(spec: ModelSpec) -> str:
    return spec.url or provider_of(spec.provider).url


def find_key(spec: ModelSpec, name: str = "", key_file: str = "") -> Key:
    """The key for a model. A provider's own key never goes to another address, unless named."""
    variable = name or ("" if spec.url else provider_of(spec.provider).key)
    if not variable:
        return Key("")
    path = key_file or os.environ.get(FILE_VARIABLE, "")
    value = os.environ.get(variable, "") or _read(path).get(variable, "")
    if not value:
        raise UsageError(
            f"there is no key for {spec}",
            hint=f"set {variable} in the environment, or write {variable}=... into the file that"
            f" {FILE_VARIABLE} names",
        )
    return Key(value.strip())


def _read(path: str) -> Mapping[str, str]:
    if not path:
        return {}
    file = Path(path).expanduser()
    try:
        if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UsageError(f"the key file {file} can be read by others", hint=f"chmod 600 {file}")
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise UsageError(f"the key file {file} cannot be read: {reason}") from error
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip().strip("'\"") for name, value in pairs}
