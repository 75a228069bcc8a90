"""The words of the service as JSON, both ways, from their types alone.

A dataclass is an object, a tuple an array, a scope its text. Times stay what they are in Python:
whole milliseconds since 1970, UTC. Whatever a request holds beyond what is known is refused by its
name, so that a misspelt field is never taken for one that was left out; a reply may hold more than
an older client knows.

Numbers, texts and arrays have limits here, so that nothing reaches the service that no database
can hold.
"""

import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from metamem.core.access import Scope
from metamem.core.errors import UsageError

T = TypeVar("T")
LARGEST = 2**53 - 1  # of whole numbers: what every reader of JSON holds exactly
FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999  # times: the years 1 to 9999
TIMES = {"said_at", "meant_from", "meant_to", "started_at", "ended_at", "since", "until", "now"}
TIMES |= {"expires_at"}
MOST_NAMES = 1000  # texts in an array
MOST_ITEMS = 10_000  # objects in an array
DEEPEST = 30
LONGEST_VALUE = 4000  # characters of one value in an address


def encode(value: Any) -> Any:
    """What JSON can hold of a value."""
    if isinstance(value, Scope):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [encode(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "item") and callable(value.item):  # a number of numpy's
        return encode(value.item())
    return value


def text_of(value: Any) -> str:
    """The JSON text of a value. All ASCII: half characters, too, come through whole."""
    return json.dumps(encode(value), separators=(",", ":"), allow_nan=False)


def parse(text: str | bytes) -> Any:
    """The JSON of a text that came over the network."""
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is not JSON: {_brief(error)}") from None
    _check_depth(found, DEEPEST)
    return found


def decode(kind: type[T], data: Any, *, strict: bool = True) -> T:
    """A value of a type. Not strict: fields that are not known are left out."""
    return cast(T, _decoded(kind, data, "", strict))


def from_query(kind: type[T], pairs: Sequence[tuple[str, str]]) -> T:
    """Arguments that stand in an address. Arrays are said by repeating the name; by saying it once,
    with nothing, that they are empty."""
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if len(value) > LONGEST_VALUE:
            raise UsageError(f"{name} is longer than {LONGEST_VALUE} characters")
        given.setdefault(name, []).append(value)
    known = _fields(kind)
    data: dict[str, Any] = {}
    for name, values in given.items():
        if name not in known:
            raise _unknown(name, known, "")
        data[name] = _from_words(known[name][1], values, name)
    return decode(kind, data)


def to_query(value: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    """Arguments as an address says them; what is as it is by default is left out."""
    pairs: list[tuple[str, str]] = []
    for name, (field, _) in _fields(type(value)).items():
        item = getattr(value, name)
        if name not in names or item is None or item == field.default:
            continue
        if isinstance(item, tuple | list):
            pairs += [(name, str(each)) for each in item] or [(name, "")]
        else:
            pairs.append((name, json.dumps(item) if isinstance(item, bool | float) else str(item)))
    return pairs


def field_types(kind: Any) -> dict[str, Any]:
    """The names and types of a dataclass."""
    return {name: hint for name, (_, hint) in _fields(kind).items()}


def _fields(kind: Any) -> dict[str, tuple[Field[Any], Any]]:
    return _known_fields(kind)


@lru_cache(maxsize=256)
def _known_fields(kind: Any) -> dict[str, tuple[Field[Any], Any]]:
    hints = get_type_hints(kind)
    return {field.name: (field, hints[field.name]) for field in fields(kind)}


def needed(kind: Any) -> list[str]:
    """The fields of a dataclass that have no default."""
    return [
        name
        for name, (field, _) in _fields(kind).items()
        if field.default is MISSING and field.default_factory is MISSING
    ]


def _decoded(kind: Any, data: Any, at: str, strict: bool) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return data
    if kind is type(None):
        return None if data is None else _wrong(at, "null", data)
    if kind is Scope:
        return Scope.parse(_decoded(str, data, at, strict))
    if is_dataclass(kind):
        return _object(kind, data, at, strict)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        (kind,) = (each for each in get_args(kind) if each is not type(None))
        return _decoded(kind, data, at, strict)
    if origin is Literal:
        if strict and data not in get_args(kind):
            known = ", ".join(get_args(kind))
            raise UsageError(f"no {at} is called {data!r}", hint=f"known: {known}")
        return data
    if origin in (tuple, list):
        return _array(kind, data, at, strict)
    if origin in (dict, Mapping):
        return data if isinstance(data, dict) else _wrong(at, "an object", data)
    return _plain(kind, data, at, strict)


def _object(kind: Any, data: Any, at: str, strict: bool) -> Any:
    known = _fields(kind)
    if not isinstance(data, dict):
        _wrong(at, "an object", data, hint=f"its fields: {', '.join(known)}")
    for name in data:
        if strict and name not in known:
            raise _unknown(name, known, at)
    for name in needed(kind):
        if name not in data:
            raise UsageError(f"{_path(at, name)} is missing")
    return kind(
        **{
            name: _decoded(hint, data[name], _path(at, name), strict)
            for name, (_, hint) in known.items()
            if name in data
        }
    )


def _array(kind: Any, data: Any, at: str, strict: bool) -> Any:
    if not isinstance(data, list):
        _wrong(at, "an array", data)
    of = get_args(kind)[0]
    most = MOST_ITEMS if is_dataclass(of) else MOST_NAMES
    if strict and len(data) > most:
        raise UsageError(f"{at} holds at most {most}, not {len(data)}", hint="send them in parts")
    items = [_decoded(of, item, f"{at}[{n}]", strict) for n, item in enumerate(data)]
    return tuple(items) if get_origin(kind) is tuple else items


def _plain(kind: Any, data: Any, at: str, strict: bool) -> Any:
    right = {
        str: isinstance(data, str),
        bool: isinstance(data, bool),
        int: isinstance(data, int) and not isinstance(data, bool),
        float: isinstance(data, int | float) and not isinstance(data, bool),
    }
    words = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
    if kind not in right:
        raise TypeError(f"{kind} has no form in JSON")
    if not right[kind]:
        _wrong(at, words[kind], data)
    if strict and isinstance(data, int) and not isinstance(data, bool):
        low, high = (FIRST, LAST) if at.rpartition(".")[2] in TIMES else (-LARGEST, LARGEST)
        if not low <= data <= high:
            raise UsageError(f"{at} must be between {low} and {high}")
    return float(data) if kind is float else data


def _from_words(kind: Any, values: Sequence[str], name: str) -> Any:
    """What the words of an address mean where a value of the kind is wanted."""
    if get_origin(kind) in (tuple, list):
        return [] if list(values) == [""] else list(values)
    if len(values) > 1:
        raise UsageError(f"{name} is said more than once")
    wanted = [each for each in get_args(kind) if each is not type(None)] or [kind]
    if wanted[0] in (int, float, bool):
        try:
            return json.loads(values[0], parse_constant=_no_number)
        except (ValueError, RecursionError):
            return values[0]  # told apart where its kind is checked
    return values[0]


def _wrong(at: str, wanted: str, data: Any, hint: str = "") -> Any:
    names = {dict: "an object", list: "an array", str: "text", bool: "true or false"}
    found = "null" if data is None else names.get(type(data), "a number")
    raise UsageError(f"{at or 'the body'} must be {wanted}, not {found}", hint=hint)


def _unknown(name: str, known: Mapping[str, Any], at: str) -> UsageError:
    return UsageError(
        f"there is no {_path(at, name[:100])!r}", hint=f"known: {', '.join(known) or 'nothing'}"
    )


def _path(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _check_depth(value: Any, left: int) -> None:
    if isinstance(value, dict | list):
        if left == 0:
            raise UsageError(f"this is nested deeper than {DEEPEST} levels")
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, left - 1)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _brief(error: BaseException) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
