"""A process that makes games: one order a line from standard input, each answered with a line."""

import json
import os
import sys
from typing import Any

from metamem.core import extras
from metamem.core.system import die_with

_LONGEST_COMPLAINT = 2000


def _made(order: dict[str, Any]) -> dict[str, str]:
    try:
        from metamem.domains.textworld.making import make_game
    except Exception as error:  # a package may do anything while it loads
        return {"broken": f"textworld does not load: {extras.reason(error)}"}
    try:
        make_game(order)
    except Exception as error:
        return {"error": extras.reason(error)[-_LONGEST_COMPLAINT:]}
    return {}


def main() -> None:
    if not die_with(int(sys.argv[1])):
        return  # the parent died before this process asked to die with it
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the compiler prints is no reply
    for line in sys.stdin:
        print(json.dumps(_made(json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
