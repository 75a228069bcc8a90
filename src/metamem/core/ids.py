"""Content-hash ids and derived seeds: the same content always has the same name and luck."""

import json
from typing import Any

ID_LENGTH = 32  # hex digits: 128 bits, safe even against deliberate collisions in practice
SHORT = 8  # hex digits that people are shown


def canonical_json(value: Any) -> str:
    """JSON that is equal for equal values: sorted keys, no spaces, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def content_id(*parts: Any) -> str:
    """The id of a piece of content, made of JSON-able parts."""
    return _digest(parts).hex()[:ID_LENGTH]


def derive_seed(*parts: Any) -> int:
    """A 63-bit seed that depends on every part and on nothing else."""
    return int.from_bytes(_digest(parts)[:8], "big") >> 1


def _digest(parts: tuple[Any, ...]) -> bytes:
    import hashlib  # only here: code in the jail loads this module, and each library costs its forks

    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).digest()


def short(identifier: str) -> str:
    return identifier[:SHORT]
