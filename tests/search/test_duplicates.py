"""What a search makes of designs that say the same as known ones."""

from metamem.core.types import Design
from metamem.search.budget import Budget
from metamem.search.handoff.documents import documents
from metamem.search.proposer import Proposal
from tests.search.scripted import design, play_humans, proposals, search

NEW, OTHER = design(kept=2), design(kept=1)
# The same advice on every task but one, however it is asked for.
NEARLY = NEW.replace(
    "return text", 'if query.goal == "take the whistle": return ""\n        return text'
)


class Scripted:
    """Hands in one source after the other, each with its own comment so that no code is the same."""

    def __init__(self, *sources: str) -> None:
        self.sources = sources
        self.requests, self.episodes = [], []

    async def propose(self, request):
        number = len(self.requests)
        self.requests.append(request)
        if request.latest:
            self.episodes = await request.latest.episodes(list(request.latest.rewards)[:3])
        source = self.sources[min(number, len(self.sources) - 1)]
        assert "KEPT" in source
        # Code that does nothing keeps the advice and changes the code.
        source = source.replace("    KEPT", f"    UNUSED = {number}\n    KEPT")
        parents = tuple(view.design.id for view in request.parents[:1])
        return Proposal(Design(source), parents, "scripted", f"number {number}")


async def run(home, *sources, **settings):
    proposer = Scripted(*sources)
    journal = await search(home, {}, proposer=proposer, batch=1, race=None, **settings)
    return proposer, [p.status for p in proposals(journal)], journal


async def test_a_duplicate_is_told_by_its_advice_on_all_tasks(tmp_path):
    _, statuses, journal = await run(tmp_path, NEW, NEW, NEARLY, designs=3)
    assert statuses == ["accepted", "duplicate", "accepted"]
    assert "on all 20 tasks" in proposals(journal)[1].reason


async def test_duplicates_cost_a_design_unless_they_are_free(tmp_path):
    sources = (NEW, NEW, NEW, OTHER)
    _, statuses, _ = await run(tmp_path / "dear", *sources, designs=2)
    assert statuses == ["accepted", "duplicate"]
    _, statuses, _ = await run(tmp_path / "free", *sources, designs=2, free_duplicates=True)
    assert statuses == ["accepted", "duplicate", "duplicate", "accepted"]


async def test_free_duplicates_are_as_many_as_designs(tmp_path):
    _, statuses, _ = await run(tmp_path, NEW, designs=2, free_duplicates=True)
    assert statuses == ["accepted", "duplicate", "duplicate", "duplicate"]


async def test_a_search_with_free_duplicates_goes_on_where_it_stopped(tmp_path):
    sources = (NEW, NEW, OTHER, NEARLY)
    whole = (await run(tmp_path / "whole", *sources, designs=3, free_duplicates=True))[2]
    await run(tmp_path / "parts", *sources, designs=1, free_duplicates=True)
    proposer = Scripted(*sources)
    proposer.requests.append(None)  # one was made before
    journal = await search(
        tmp_path / "parts", {}, proposer=proposer, batch=1, race=None, designs=3,
        free_duplicates=True,
    )  # fmt: skip
    assert journal == whole


async def test_a_proposer_sees_its_own_last_design_and_how_sure_scores_are(tmp_path):
    proposer, _, _ = await run(tmp_path, OTHER, NEW, NEARLY, designs=3)
    first, second, third = proposer.requests
    assert first.latest is None
    assert second.latest.design.source.count("UNUSED = 0") == 1
    assert third.latest.origin.note == "number 1"
    score = third.latest.score
    assert (score.tasks, score.of) == (20, 20) and score.low <= score.mean <= score.high
    assert [e.task_id for e in proposer.episodes] == list(third.latest.rewards)[:3]
    assert all(len(e.possible) == len(e.steps) and e.possible[0] for e in proposer.episodes)


async def test_the_budget_in_seconds_counts_what_was_worked(tmp_path):
    worked = iter([0.0, 1.0, 2.0, 99.0])
    budget = Budget(seconds=10)
    _, statuses, _ = await run(
        tmp_path, NEW, OTHER, NEARLY, budget=budget, worked=lambda: next(worked)
    )
    assert len(statuses) == 3


class Documenting(Scripted):
    """Keeps what lies in its requests' folders."""

    async def propose(self, request):
        self.folders = [*getattr(self, "folders", []), await documents(request, 20_000)]
        return await super().propose(request)


async def test_what_requests_show_hangs_on_the_seed_and_the_submissions_alone(tmp_path):
    """Whatever an archive holds already, and where a search stopped."""
    sources = (NEW, NEW, OTHER, NEARLY)
    whole = Documenting(*sources)
    await search(tmp_path / "whole", {}, proposer=whole, batch=1, designs=4)
    await play_humans(tmp_path / "parts")
    first = Documenting(*sources)
    await search(tmp_path / "parts", {}, proposer=first, batch=1, designs=2)
    later = Documenting(*sources)
    later.requests = [None, None]
    await search(tmp_path / "parts", {}, proposer=later, batch=1, designs=4)
    assert first.folders + later.folders == whole.folders
    shown = [{n for n in folder if n.startswith("episodes/")} for folder in whole.folders]
    assert all(shown) and any(n.endswith("-own.txt") for names in shown for n in names)
