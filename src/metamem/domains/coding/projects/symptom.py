"""What a user sees of a fault, in a user's words: made from the failing test, not from the fault."""

import ast
import random
from dataclasses import dataclass
from types import FrameType

LONGEST = 300  # characters of a value that are shown


@dataclass(frozen=True, slots=True)
class Symptom:
    """`kind` is value, error, accepted, untrue, import or hang."""

    kind: str
    code: str = ""  # the call that shows it
    seen: str = ""
    wanted: str = ""
    before: tuple[str, ...] = ()  # what was done first


def symptom_of(error: BaseException, place: tuple[FrameType, int] | None, test: str) -> Symptom:
    if place is None:
        return Symptom("import", repr(error))
    frame, line = place
    statement, before = _statement_at(test, line)
    own = isinstance(error, AssertionError) and isinstance(statement, ast.Assert)
    if isinstance(statement, ast.With):
        body = ast.unparse(statement.body[0])
        if isinstance(error, AssertionError):  # an error, but with another message
            return Symptom("error", body, "an error about something else", before=before)
        if isinstance(error, Exception):
            return Symptom("error", body, _spell(error), before=before)
        wanted = ast.unparse(statement.items[0].context_expr.args[0])  # type: ignore[attr-defined]
        return Symptom("accepted", body, wanted=wanted, before=before)
    if own and isinstance(statement, ast.Assert):
        return _broken_claim(statement.test, frame, before)
    code = statement.test if isinstance(statement, ast.Assert) else statement
    if isinstance(code, ast.Compare):
        code = code.left
    return Symptom("error", ast.unparse(code), _spell(error), before=before)


def _broken_claim(claim: ast.expr, frame: FrameType, before: tuple[str, ...]) -> Symptom:
    if isinstance(claim, ast.Compare) and isinstance(claim.ops[0], ast.Eq | ast.Is):
        seen = _value(claim.left, frame)
        wanted = _value(claim.comparators[0], frame)
        if seen != wanted:
            return Symptom("value", ast.unparse(claim.left), seen, wanted, before)
    if isinstance(claim, ast.UnaryOp) and isinstance(claim.op, ast.Not):
        return Symptom("untrue", ast.unparse(claim.operand), "true", "false", before)
    return Symptom("untrue", ast.unparse(claim), "false", "true", before)


def _value(node: ast.expr, frame: FrameType) -> str:
    code = compile(ast.Expression(node), "<test>", "eval")
    # The tests are this package's own files; none of them compares what a call changes.
    return repr(eval(code, {**frame.f_globals, **frame.f_locals}))[:LONGEST]


def _spell(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _statement_at(test: str, line: int) -> tuple[ast.stmt, tuple[str, ...]]:
    """The statement of the test that stopped, and those before it that are not checks."""
    for function in ast.parse(test).body:
        if isinstance(function, ast.FunctionDef) and _covers(function, line):
            before: list[str] = []
            for statement in _flat(function.body):
                if _covers(statement, line):
                    return statement, tuple(before)
                if not isinstance(statement, ast.Assert | ast.With):
                    before.append(ast.unparse(statement))
    raise ValueError(f"no statement at line {line}")


def _flat(body: list[ast.stmt]) -> list[ast.stmt]:
    """Loops opened up where they hold a check, so that the check itself is found."""
    flat: list[ast.stmt] = []
    for statement in body:
        checks = isinstance(statement, ast.For) and any(
            isinstance(inner, ast.Assert | ast.With) for inner in statement.body
        )
        flat.extend(statement.body if checks and isinstance(statement, ast.For) else [statement])
    return flat


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


_PHRASES = {
    "value": (
        "`{code}` gives {seen}, but it should give {wanted}.",
        "I get {seen} from `{code}`. I expected {wanted}.",
        "`{code}` returns {seen} where {wanted} would be right.",
    ),
    "error": (
        "`{code}` fails with {seen}.",
        "I call `{code}` and it stops with {seen}.",
        "Something is wrong here: `{code}` raises {seen}.",
    ),
    "accepted": (
        "`{code}` is accepted without complaint. It should raise {wanted}.",
        "No {wanted} from `{code}`, although the input makes no sense.",
        "I expected a {wanted} from `{code}`, and nothing happens.",
    ),
    "untrue": (
        "`{code}` is {seen}, but it should be {wanted}.",
        "I would say that `{code}` is {wanted}. It comes out as {seen}.",
        "`{code}`: expected {wanted}, got {seen}.",
    ),
}


def tell(project: str, symptom: Symptom, seed: int) -> str:
    """An issue as a user of the project would write it."""
    phrase = random.Random(seed).choice(_PHRASES[symptom.kind])
    text = phrase.format(code=symptom.code, seen=symptom.seen, wanted=symptom.wanted)
    if symptom.before:
        done = "\n".join(f"    {line}" for part in symptom.before for line in part.split("\n"))
        text = f"After\n{done}\n{text}"
    return f"{project}: {text}"
