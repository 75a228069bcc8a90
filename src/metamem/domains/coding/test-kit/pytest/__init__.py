"""A small test kit that answers to the name of pytest inside the workspace.

It runs plain test functions, test classes, `unittest` cases, `parametrize` and simple fixtures,
and starts in a few milliseconds. `python -m pytest` runs it as an agent would run the real one.
"""

import math


class Skipped(Exception):
    """A test that says it is not for here. It is never counted as passed."""


class Failed(AssertionError):
    """A test that says it has failed."""


def skip(reason="", allow_module_level=False):
    raise Skipped(reason)


def fail(reason="", pytrace=True):
    raise Failed(reason)


class _Raises:
    """The block must raise one of the expected exceptions; `value` holds it afterwards."""

    def __init__(self, expected, match=None):
        self.expected, self.match = expected, match
        self.value = self.type = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            raise Failed(f"DID NOT RAISE {self.expected}")
        if not issubclass(kind, self.expected):
            return False
        self.type, self.value = kind, error
        if self.match is not None:
            import re

            if not re.search(self.match, str(error)):
                raise Failed(f"{str(error)!r} does not match {self.match!r}")
        return True


def raises(expected, *call, match=None, **named):
    if not call:
        return _Raises(expected, match)
    caught = _Raises(expected, match)
    with caught:
        call[0](*call[1:], **named)
    return caught


class approx:
    """Equal to numbers, or lists and dictionaries of numbers, that are close enough."""

    def __init__(self, expected, rel=None, abs=None):
        self.expected = expected
        self.rel = 1e-6 if rel is None and abs is None else rel or 0.0
        self.abs = 1e-12 if abs is None else abs

    def __eq__(self, other):
        return self._close(self.expected, other)

    def _close(self, expected, other):
        if isinstance(expected, dict):
            return (
                isinstance(other, dict)
                and expected.keys() == other.keys()
                and all(self._close(expected[key], other[key]) for key in expected)
            )
        if isinstance(expected, list | tuple):
            return len(expected) == len(other) and all(map(self._close, expected, other))
        try:
            return math.isclose(expected, other, rel_tol=self.rel, abs_tol=self.abs)
        except TypeError:
            return expected == other

    __hash__ = None

    def __repr__(self):
        return f"approx({self.expected!r})"


class param:
    """One set of arguments with a name of its own."""

    def __init__(self, *values, id=None, marks=()):
        self.values, self.id = values, id


def fixture(function=None, **options):
    def mark_it(chosen):
        chosen._is_fixture = True
        return chosen

    return mark_it(function) if callable(function) else mark_it


class _Mark:
    """`mark.anything(...)` is accepted; `parametrize`, `skip` and `skipif` have a meaning."""

    def __getattr__(self, name):
        def bare_or_called(*args, **named):
            if not named and len(args) == 1 and callable(args[0]):
                return args[0]
            return lambda chosen: chosen

        return bare_or_called

    def parametrize(self, names, values, ids=None):
        split = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)

        def mark_it(chosen):
            rows = [_row(split, value, ids, n) for n, value in enumerate(values)]
            chosen._rows = [
                (f"{one}-{two}" if two else one, {**given, **more})
                for two, more in getattr(chosen, "_rows", [("", {})])
                for one, given in rows
            ]
            return chosen

        return mark_it

    def skip(self, *given, **named):
        return _skipping(True, given)

    def skipif(self, condition, **named):
        return _skipping(condition, ())


def _skipping(condition, given):
    def mark_it(chosen):
        chosen._skipped = bool(condition)
        return chosen

    return mark_it(given[0]) if given and callable(given[0]) else mark_it


def _row(names, value, ids, number):
    label = ids[number] if isinstance(ids, list | tuple) else None
    if isinstance(value, param):
        label = value.id or label
        value = value.values if len(names) > 1 else value.values[0]
    given = dict(zip(names, value, strict=True)) if len(names) > 1 else {names[0]: value}
    return label or "-".join(map(_label, given.items(), [number] * len(given))), given


def _label(item, number):
    name, value = item
    simple = isinstance(value, str | int | float | bool) or value is None
    return str(value) if simple else f"{name}{number}"


mark = _Mark()
