"""Questions in other words than the facts that answer them.

python -m bench.paraphrases

Three memories of twenty short facts, each with fifteen questions that share no telling word with the fact
that answers them ("do we have pets?" for a labrador) and ten that nothing answers. All were written before
any was asked; nothing is learned or chosen from them.

- first: the fact that answers stands first; shown: it is shown at all; silent: nothing is shown
- ranked first: the same, were everything shown (`floor=0`)
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft

SCOPE = "local/project/paraphrases"


@dataclass(frozen=True, slots=True)
class Memory:
    """`asked` says for a question which fact answers it, by its place; None where none does."""

    facts: Sequence[str]
    asked: Mapping[str, int | None]


PERSON = Memory(
    (
        "I grew up in a fishing village in Galicia",
        "My brother Tomas is a surgeon in Madrid",
        "I cannot stand cilantro",
        "I ride my bike to the office every day",
        "I am saving for a flat",
        "I broke my left wrist in 2019",
        "I take 20 mg of omeprazole each morning",
        "My cat Luna sleeps on the piano",
        "I have a green Fender bass",
        "I studied chemistry in Porto",
        "My flight to Oslo leaves on 12 December at 6:40",
        "I go swimming on Sunday mornings",
        "My phone is a Pixel 8",
        "I am afraid of heights",
        "We celebrate our wedding day on 4 May",
        "I drink my coffee black",
        "I vote by mail",
        "Grandma bakes the best apple cake",
        "My landlord is called Mr Novak",
        "I listen to jazz while I cook",
    ),
    {
        "where was I born and raised?": 0,
        "do I have any siblings?": 1,
        "which herb do I dislike?": 2,
        "how do I commute?": 3,
        "am I planning to buy an apartment?": 4,
        "past injuries": 5,
        "what medication am I on?": 6,
        "what pets do I have?": 7,
        "which musical instrument do I own?": 8,
        "what was my university degree in?": 9,
        "upcoming travel to Norway": 10,
        "what exercise do I get at the weekend?": 11,
        "which smartphone do I use?": 12,
        "do I have a phobia?": 13,
        "when is our anniversary?": 14,
        "what is my shoe size?": None,
        "which football club do I support?": None,
        "what is my mother's maiden name?": None,
        "how much do I earn?": None,
        "which bank am I with?": None,
        "what is the tallest mountain in Africa?": None,
        "translate good evening into Dutch": None,
        "what did I get for Christmas?": None,
        "who is my dentist?": None,
        "which streaming services do I pay for?": None,
    },
)
PROJECT = Memory(
    (
        "Secrets live in Vault, never in the repository",
        "The staging cluster is rebuilt every night",
        "We log as JSON to stdout",
        "Marta owns the billing module",
        "Feature flags are kept in LaunchDarkly",
        "Releases are cut on Tuesdays",
        "The checkout page must load in under two seconds",
        "We dropped Python 3.9",
        "Money is stored as integer cents",
        "Images are resized by a Lambda function",
        "Every endpoint needs an OpenAPI entry",
        "The nightly job was moved from cron to Airflow",
        "Branch names begin with the ticket number",
        "Two people have to look at each change",
        "Search runs on Elasticsearch 8",
        "The mobile client is written in Flutter",
        "Emails go out through Postmark",
        "All times are kept in UTC",
        "The monolith was split in 2022",
        "Flaky tests are quarantined, not deleted",
    ),
    {
        "where do we keep passwords and credentials?": 0,
        "how often is the test environment recreated?": 1,
        "what is our logging format?": 2,
        "who is responsible for invoices?": 3,
        "how do we toggle functionality for some users?": 4,
        "on which weekday do we ship?": 5,
        "performance requirements of the shop": 6,
        "minimum supported interpreter version": 7,
        "how do we represent currency amounts?": 8,
        "what generates the thumbnails?": 9,
        "documentation rules for the API": 10,
        "what schedules our batch work?": 11,
        "git naming conventions": 12,
        "code review policy": 13,
        "which framework is the smartphone app built with?": 15,
        "which licence do we use?": None,
        "how do we do load balancing?": None,
        "who is on call this week?": None,
        "what is our disaster recovery plan?": None,
        "which CSS framework do we use?": None,
        "how are containers scanned for vulnerabilities?": None,
        "what is the default cache expiry?": None,
        "write a function that reverses a list": None,
        "how large is the marketing budget?": None,
        "which currency pairs do we trade?": None,
    },
)
HOME = Memory(
    (
        "The spare key is under the third flowerpot",
        "Bins are collected on Thursday",
        "The boiler was serviced in October",
        "Sofia is allergic to penicillin",
        "The Wi-Fi network is called Nimbus",
        "Leo starts school in September",
        "We pay the babysitter 14 euros an hour",
        "The dishwasher leaks when it is full",
        "Aunt Vera stays with us over Easter",
        "The lawnmower needs two-stroke fuel",
        "The attic is insulated with hemp",
        "Our neighbour Hakan waters the plants",
        "The blue paint in the hall is Farrow 281",
        "The fuse box is behind the coat rack",
        "Leo will not eat mushrooms",
        "We cancelled the newspaper",
        "The tent is in the cellar",
        "The piano is tuned every spring",
        "Sofia plays handball on Fridays",
        "The car insurance ends in June",
    ),
    {
        "how do I get in if I am locked out?": 0,
        "when is the rubbish picked up?": 1,
        "was the heating checked?": 2,
        "which antibiotics must be avoided?": 3,
        "name of our wireless internet": 4,
        "child care costs": 6,
        "which kitchen appliance is broken?": 7,
        "are we expecting guests in spring holidays?": 8,
        "what do I put in the grass cutter?": 9,
        "who looks after the garden while we are away?": 11,
        "colour of the corridor walls": 12,
        "the lights went out, where is the electrical panel?": 13,
        "which vegetables does the boy refuse?": 14,
        "where is the camping gear?": 16,
        "which sport does our daughter do?": 18,
        "what is the alarm code?": None,
        "who is our family doctor?": None,
        "when does the chimney sweep come?": None,
        "how old is the roof?": None,
        "which streaming box do we have?": None,
        "what is the recipe for pancakes?": None,
        "how much is our rent?": None,
        "where is the vacuum cleaner?": None,
        "what is the distance to the moon?": None,
        "when do we go skiing?": None,
    },
)


def measure(memory: Memory) -> tuple[list[int], list[int]]:
    """Of questions that are answered: all, first, shown, ranked first. Of others: all, silent."""
    folder = Path(tempfile.mkdtemp(prefix="metamem-bench-"))
    service = MemoryService(folder)
    try:
        me = service.local()
        me.remember(SCOPE, [Draft(text, source="user") for text in memory.facts])
        while me.recall(Ask("vectors")).waiting:
            time.sleep(0.05)
        known, unknown = [0, 0, 0, 0], [0, 0]
        for question, place in memory.asked.items():
            shown = [item.fact.text for item in me.recall(Ask(question)).items]
            if place is None:
                unknown = [unknown[0] + 1, unknown[1] + (not shown)]
                continue
            right = memory.facts[place]
            ranked = [item.fact.text for item in me.recall(Ask(question, floor=0.0)).items]
            new = (1, shown[:1] == [right], right in shown, ranked[:1] == [right])
            known = [a + b for a, b in zip(known, new, strict=True)]
        return known, unknown
    finally:
        service.close()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    print(f"{'':8}  questions  first  shown  ranked first   unanswerable  silent")
    sums: list[list[int]] = []
    for name, memory in (("person", PERSON), ("project", PROJECT), ("home", HOME)):
        known, unknown = measure(memory)
        sums.append([*known, *unknown])
        show(name, sums[-1])
    show("all", [sum(column) for column in zip(*sums, strict=True)])
    return 0


def show(name: str, row: Sequence[int]) -> None:
    print(f"{name:8}  {row[0]:9}  {row[1]:5}  {row[2]:5}  {row[3]:12}   {row[4]:12}  {row[5]:6}")


if __name__ == "__main__":
    sys.exit(main())
