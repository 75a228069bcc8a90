"""Values to columns and back. What cannot come back exactly is refused on the way in."""

import json
import math
import operator
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metamem.core.errors import DataError
from metamem.core.types import CaseResult, Episode, Fingerprint, Measurement
from metamem.store.engine import Value


def dump(value: Any, what: str) -> str:
    """JSON, equal for equal values, in ASCII: the same in every database."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"{what} cannot be kept: it is not plain JSON ({error})",
            hint="use strings, finite numbers, lists and dicts with string keys",
        ) from error


def load(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:  # damage may leave no text at all
        raise damaged(what, error) from error


def damaged(what: str, why: object) -> DataError:
    return DataError(f"{what} is damaged in the archive ({why})", hint="restore a backup")


def text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise DataError(f"{what} is not text but {value!r}")
    return value


def whole(value: Any, what: str) -> int:
    try:
        return operator.index(value)
    except TypeError as error:
        raise DataError(f"{what} is not a whole number but {value!r}") from error


def finite(value: Any, what: str) -> float:
    try:
        number = float(value) + 0.0  # -0.0 becomes 0.0: not every database tells them apart
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} is not a number but {value!r}") from error
    if not math.isfinite(number):
        raise DataError(f"{what} is {number}", hint="only a finite number can be compared")
    return number


def costs(value: Any, what: str) -> str:
    """Numbers by name; most rows have none."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise DataError(f"{what} are not numbers by name but {value!r}")
    numbers = {name: finite(number, f"the cost {name!r}") for name, number in value.items()}
    return dump(numbers, what) if numbers else ""


# The columns of a row, each with what makes sure that it comes back as it went in.
RESULTS: Mapping[str, Callable[[Any, str], Value]] = {
    "task_id": text,
    "repeat": whole,
    "reward": finite,
    "steps": whole,
    "advice_tokens": whole,
    "advice_truncated": whole,
    "advice_digest": text,
    "actions_digest": text,
    "model_calls": whole,
    "tokens": whole,
    "failure": text,
    "costs": costs,
}
MEASUREMENTS: Mapping[str, Callable[[Any, str], Value]] = {"seconds": finite, "retrieve_ms": finite}


def result_columns(row: CaseResult) -> dict[str, Value]:
    return {name: check(getattr(row, name), name) for name, check in RESULTS.items()}


def measurement_columns(row: CaseResult) -> dict[str, Value]:
    return {name: check(getattr(row.measured, name), name) for name, check in MEASUREMENTS.items()}


def row_from_columns(columns: Sequence[Any]) -> CaseResult:
    """A row from its result columns and then its measurement columns."""
    fields = dict(zip(RESULTS, columns, strict=False))
    fields["advice_truncated"] = bool(fields["advice_truncated"])
    fields["costs"] = load(fields["costs"], "the costs of a case") if fields["costs"] else {}
    return CaseResult(**fields, measured=Measurement(*columns[len(RESULTS) :]))


def dump_fingerprint(fingerprint: Fingerprint) -> str:
    text = dump(fingerprint.to_json(), "the fingerprint")
    if Fingerprint.from_json(json.loads(text)).id != fingerprint.id:
        raise DataError("the fingerprint changes when written", hint="use strings as keys")
    return text


def load_fingerprint(text: str, evaluation_id: str) -> Fingerprint:
    what = f"the fingerprint of evaluation {evaluation_id}"
    fields: Mapping[str, Any] = load(text, what)
    try:
        fingerprint = Fingerprint.from_json(fields)
    except TypeError as error:
        raise damaged(what, error) from error
    if fingerprint.id != evaluation_id:
        raise damaged(what, "it does not match its id")
    return fingerprint


def pack(episodes: Sequence[Episode], what: str) -> bytes:
    return zlib.compress(dump([episode.to_json() for episode in episodes], what).encode())


def unpack(content: bytes, what: str) -> list[Episode]:
    try:
        return [Episode.from_json(data) for data in load(zlib.decompress(content).decode(), what)]
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise damaged(what, error) from error


def same_packed(one: bytes, other: bytes) -> bool:
    """Equal once unpacked: another build of zlib may pack the same episodes otherwise."""
    return one == other or zlib.decompress(one) == zlib.decompress(other)
