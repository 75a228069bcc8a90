"""Tools in use: are they used instead of the steps, do they work, do they pay, and which has turned bad.

**The alarm.** A failure counts one, a success takes half of one off, and the count never falls below zero. At
four the tool is disabled. Four failures in a row are enough; a tool that works as a rule is not blamed for a bad
day long ago. A tool that works 95 times of 100 is disabled by mistake in 1 of 1,000 series of 100 uses (1 of
100 of 1,000 uses); one that works 20 times of 100 is gone after 4.6 failures on the average. Uses whose values were
not taken, and the same attempt once more, do not count.

**The account.** What the steps cost by hand is known from the cases by which the tool was judged; what its uses
cost is known, too. The difference is what it saved, so far as the mean of those cases is right: that is the
interval. Spent were the tokens and seconds of writing and judging it, its description in every session since
then, and its failures.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from metamem.core.amounts import many
from metamem.core.tokens import count_tokens
from metamem.evaluation.statistics import binomial_lower_bound, t_interval
from metamem.foundry.tools import deploying, deployments, runs, skills, store
from metamem.foundry.tools.cooling import judgements
from metamem.foundry.tools.deployments import Deployed
from metamem.foundry.tools.runs import Run
from metamem.foundry.tools.site import Site
from metamem.foundry.tools.store import Kept
from metamem.foundry.tools.telling import in_words, schema
from metamem.store.engine import Execute

LIMIT, RELIEF = 4.0, 0.5
LEVEL = 0.025  # on either side
ENOUGH = 50  # sessions after which a tool should have paid for its description
UNUSED = 10  # times by hand without one use of the tool that are worth a warning


@dataclass(frozen=True, slots=True)
class Between:
    """A figure, and where it lies with a confidence of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Fitness:
    """How often a tool worked, of the uses that count."""

    worked: int
    counted: int
    share: Between
    alarm: float  # of `LIMIT`


@dataclass(frozen=True, slots=True)
class Account:
    """What a tool saved and what it cost, since it is in use."""

    uses: int  # that the tool took on
    refused: int  # calls with values that it does not take: nothing was done
    by_hand: int  # times that the steps were done though the tool was there
    calls: Between  # saved
    tokens: Between  # saved by its uses, before what was spent
    milliseconds: Between
    written: int  # tokens spent on writing and judging it
    told: int  # tokens of its description, in every session since then
    sessions: int
    judged: float  # seconds
    each: float  # tokens that a use which works saves
    worked: int  # uses that did

    @property
    def net(self) -> Between:
        """Tokens saved minus spent."""
        spent = self.written + self.told
        return Between(self.tokens.value - spent, self.tokens.low - spent, self.tokens.high - spent)

    @property
    def pays_after(self) -> float | None:
        """Uses after which it has paid what was spent by now; None where no use saves anything."""
        return (self.written + self.told) / self.each if self.each > 0 else None


@dataclass(frozen=True, slots=True)
class Watched:
    deployed: Deployed
    fitness: Fitness
    account: Account
    warning: str = ""


def alarm(outcomes: Iterable[bool]) -> float:
    """How near a tool is to being disabled, given how its uses ended, in order."""
    count = 0.0
    for worked in outcomes:
        count = counted_on(count, worked)
        if count >= LIMIT:
            break
    return count


def counted_on(count: float, worked: bool) -> float:
    """What one more use makes of it."""
    return max(0.0, count - RELIEF) if worked else count + 1


def look(site: Site, deployed: Deployed, *, at: int) -> str:
    """Disable a tool that has turned bad; why, or nothing where it stays."""
    with site.database.reading() as execute:
        seen = _fitness(_of_this(execute, site.number, deployed))
    if seen.alarm < LIMIT:
        return ""
    failed = seen.counted - seen.worked
    why = f"{failed} of {seen.counted} uses failed"
    evidence = {"uses": seen.counted, "failed": failed, "alarm": seen.alarm}
    deploying.disable(site, deployed.kept.slot, deployed.kept.id, why=why, evidence=evidence, at=at)
    return why


def watch(site: Site, *, at: int) -> list[Watched]:
    """Look at every tool in use: those that turned bad are disabled, the others are told of."""
    deploying.verify(site, at=at)
    with site.database.reading() as execute:
        in_use = deployments.deployed(execute, site.number)
    left = [each for each in in_use if not look(site, each, at=at)]
    with site.database.reading() as execute:
        return [watched(execute, site.number, each) for each in left]


def watched(execute: Execute, scope: int, deployed: Deployed) -> Watched:
    """How a tool does, or did while it was in use."""
    mine = _of_this(execute, scope, deployed)
    ended = deployed.deployment.ended_at
    by_hand = runs.by_hand_since(
        execute, scope, deployed.kept.slot, deployed.deployment.at, until=ended
    )
    warning = ""
    account = _account(execute, scope, deployed, mine, by_hand)
    if ended is not None:
        pass  # it is out of use: nothing has to be done about it
    elif not account.uses and by_hand >= UNUSED:
        warning = f"the steps were done by hand {by_hand} times, and the tool was never used"
    elif account.sessions >= ENOUGH and account.net.high < 0:
        each = account.told // account.sessions
        warning = (
            f"it costs more tokens than it saves: {each} in each of {account.sessions} sessions"
        )
    return Watched(deployed, _fitness(mine), account, warning)


def account_line(watched: Watched) -> str:
    """What a tool did and what that was worth, in a line."""
    account, fitness = watched.account, watched.fitness
    used = f"used {many(account.uses, 'time')}" if account.uses else "not used yet"
    if fitness.counted:
        share = fitness.share
        used += (
            f", {fitness.worked} of {fitness.counted} that count worked ({share.low:.0%} to"
            f" {share.high:.0%})"
        )
    elif account.uses:
        used += ", none of which counts"
    if account.refused:
        used += f"; {many(account.refused, 'call')} with values that it does not take"
    saved = (
        f"Saved {account.calls.value:+.0f} calls, {account.net.value:+.0f} tokens"
        f" ({account.net.low:+.0f} to {account.net.high:+.0f}) after what it cost"
    )
    after = account.pays_after
    if after:
        worth = "it has paid for that" if account.worked >= after else f"that is paid after {math.ceil(after)} uses"  # fmt: skip
        saved += f"; {worth}"
    return f"{used}; by hand {many(account.by_hand, 'time')}. {saved}."


def telling(kept: Kept) -> int:
    """The tokens that a tool's description takes in every session: as a tool, and as a skill."""
    as_tool = f"{kept.name} {in_words(kept.tool)} {json.dumps(schema(kept.tool))}"
    front = skills.skill_text(kept).partition("\n---\n")[0]
    return count_tokens(as_tool) + count_tokens(front)


def _of_this(execute: Execute, scope: int, deployed: Deployed) -> list[Run]:
    """Uses of a version, for as long as it is or was in use."""
    since, until = deployed.deployment.at, deployed.deployment.ended_at
    found = runs.runs(execute, scope, deployed.kept.slot, tool=deployed.kept.id, since=since)
    return [run for run in found if until is None or run.at <= until]


def _fitness(mine: Sequence[Run]) -> Fitness:
    counted = [run.worked for run in mine if run.counted]
    n, worked = len(counted), sum(counted)
    low = binomial_lower_bound(worked, n, LEVEL) if n else 0.0
    high = 1 - binomial_lower_bound(n - worked, n, LEVEL) if n else 1.0
    share = Between(worked / n if n else 0.0, low, high)
    return Fitness(worked, n, share, alarm(counted))


def _account(
    execute: Execute, scope: int, deployed: Deployed, mine: Sequence[Run], by_hand: int
) -> Account:
    kept = deployed.kept
    cases = store.measured(execute, scope, kept.id)
    worked = [run for run in mine if run.worked]
    judged = [each for each in judgements(execute, scope, kept.kept_as) if each.at <= kept.made_at]
    began, ended = deployed.deployment.at, deployed.deployment.ended_at
    ((sessions,),) = execute(
        "SELECT COUNT(*) FROM sessions WHERE scope = ? AND started_at >= ?"
        " AND (? IS NULL OR started_at < ?)",
        (scope, began, ended, ended),
    )
    # What a person tried in a shell, with values that are not taken, cost no agent anything.
    uses = [run for run in mine if not run.refused]
    paid = [run for run in mine if not run.refused or run.session]
    tokens = _saved([c.tokens for c in cases], len(worked), [run.tokens or 0 for run in paid])
    by_hand_each = sum(c.tokens for c in cases) / len(cases) if cases else 0.0
    by_tool_each = sum(run.tokens or 0 for run in worked) / len(worked) if worked else 0.0
    return Account(
        len(uses),
        len(mine) - len(uses),
        by_hand,
        _saved([c.calls for c in cases], len(worked), [1] * len(paid)),
        tokens,
        _saved([c.milliseconds for c in cases], len(worked), [run.milliseconds for run in paid]),
        sum(each.tokens for each in judged),
        telling(kept) * int(sessions),
        int(sessions),
        sum(each.seconds for each in judged),
        by_hand_each - by_tool_each,
        len(worked),
    )


def _saved(by_hand: Sequence[float], worked: int, paid: Sequence[float]) -> Between:
    """What so many times by hand would have cost, less what was paid."""
    if not by_hand:
        return Between(-sum(paid), -sum(paid), -sum(paid))
    mean = sum(by_hand) / len(by_hand)
    low, high = t_interval(by_hand) if len(by_hand) > 1 else (0.0, mean)
    return Between(*(worked * each - sum(paid) for each in (mean, max(0.0, low), high)))
