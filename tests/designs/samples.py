"""A few small episodes of no particular domain, for designs to learn from."""

from metamem.core.types import Experience, Query, Step

START = ("go to north tower 1", "go to south tower 2", "wait")
VIEW = "You stand in a yard. You see a north tower 1 and a south tower 2."


def fetched(thing: str, tower: str, target: str, *, detour: bool = False) -> Experience:
    """A thing is found in a tower and brought to a target: a success."""
    here = (f"grab {thing} 1", "go to yard 1", "wait")
    carrying = (f"give {thing} 1 to {target} 1", "go to yard 1", "wait")
    steps = [
        Step(f"go to {tower} 1", f"The {tower} 1 holds a {thing} 1 and a rope 2.", here),
        Step(f"grab {thing} 1", f"You hold the {thing} 1.", carrying),
        Step(f"give {thing} 1 to {target} 1", "It is taken with thanks.", START, 1.0, True),
    ]
    if detour:
        idle = Step("wait", VIEW, START)
        steps = [idle, idle, *steps]
    return Experience(f"bring a {thing} to the {target}", VIEW, START, tuple(steps), 1.0)


def failed(thing: str, tower: str, target: str) -> Experience:
    """The thing was looked for in the wrong tower."""
    steps = (
        Step(f"go to {tower} 1", f"The {tower} 1 holds a rope 1.", ("grab rope 1", "wait")),
        Step("wait", "Time passes.", ("grab rope 1", "wait")),
    )
    return Experience(f"bring a {thing} to the {target}", VIEW, START, steps, 0.0)


EPISODES = (
    fetched("lantern", "north tower", "guard"),
    fetched("ladder", "south tower", "guard", detour=True),
    failed("lantern", "south tower", "captain"),
    fetched("lantern", "north tower", "captain", detour=True),
    failed("banner", "north tower", "guard"),
    Experience("", "", (), (), 0.0),  # nothing at all must do no harm
)
QUERIES = (
    Query("bring a lantern to the captain", VIEW, START),
    Query("bring a banner to the guard", VIEW, START, (Step("wait", VIEW, START),)),
    Query("sing"),
)
