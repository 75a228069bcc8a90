"""What a sed script does with the values in it: where they may stand, and what they may not hold."""

from metamem.foundry.tools.operations import NotATool, is_hole

_PLAIN = "dpq=DPnNgGhHx"


def sed_rules(script: str) -> dict[str, set[str]]:
    """The rules for every hole's sign, of all places where it stands; refused where a script runs, reads
    or writes something else."""
    rules: dict[str, set[str]] = {}
    at = 0

    def demand(sign: str, rule: str) -> None:
        rules.setdefault(sign, set()).add(rule)

    def part(between: str) -> None:
        nonlocal at
        while at < len(script) and script[at] != between:
            if script[at] == "\\":
                at += 1
                if is_hole(script[at : at + 1] or " "):
                    raise NotATool("a value after a backslash")
            elif is_hole(script[at]):
                demand(script[at], f"inside of {between}")
            elif script[at] == "\n":
                raise NotATool("a sed script that is not read here")
            at += 1
        if at >= len(script):
            raise NotATool("a sed script that is not read here")
        at += 1

    def address() -> None:
        nonlocal at
        while at < len(script) and (
            script[at].isdigit() or script[at] in "$,!~+ /" or is_hole(script[at])
        ):
            at += 1
            if script[at - 1] == "/":
                part("/")
            elif is_hole(script[at - 1]):
                demand(script[at - 1], "number")

    while at < len(script):
        if script[at] in " \t\n;{}":
            at += 1
            continue
        address()
        sign = script[at : at + 1]
        at += 1
        if sign == "s" and script[at : at + 1] in tuple("/|#,:@%!_"):
            between = script[at]
            at += 1
            part(between)
            part(between)
            while at < len(script) and (script[at].isdigit() or script[at] in "gpI"):
                at += 1
        elif sign and sign in "aic":
            while at < len(script) and script[at] != "\n":
                if is_hole(script[at]):
                    demand(script[at], "one line")
                at += 1
        elif sign == "{" or (sign and sign in _PLAIN):
            continue
        else:
            raise NotATool(
                "a sed script that is not read here, or that does more than to change text"
            )
        if at < len(script) and script[at] not in " \t\n;}":
            raise NotATool("a sed script that is not read here")
    return rules
