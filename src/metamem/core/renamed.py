"""Names that were in use before, and still work."""

import warnings
from collections.abc import Mapping
from typing import Any

from metamem.core.errors import UsageError


def renamed(settings: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """Settings under the names of today; `names` gives today's name of an old one."""
    given = dict(settings)
    for old, new in names.items():
        if old in given:
            if new in given:
                raise UsageError(f"{old!r} is the old name of {new!r}: give one of them")
            warnings.warn(f"the setting {old!r} is called {new!r} now", FutureWarning, stacklevel=3)
            given[new] = given.pop(old)
    return given
