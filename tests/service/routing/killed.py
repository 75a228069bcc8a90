"""A process that routes until it is killed: it says what it was told has been kept."""

import sys
from pathlib import Path

from metamem.routing.words import Outcome
from metamem.service.connecting import open_folder
from metamem.service.routing.words import Contender

SCOPE = "local/project/shop"
ARMS = (Contender("a"), Contender("b"))

if __name__ == "__main__":
    folder, name = Path(sys.argv[1]), sys.argv[2]
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 10**9
    with open_folder(folder) as service:
        for number in range(most):
            made = service.route(SCOPE, f"task {number} of {name}", ARMS)
            print("made", made.decision, made.arm, made.propensity, flush=True)
            if number % 3:
                service.reward(made.decision, Outcome(number % 2))
                print("told", made.decision, flush=True)
