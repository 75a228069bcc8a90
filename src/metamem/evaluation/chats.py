"""The models, as the agents and designs of one job may use them: each question knows its site."""

from metamem.core.chat import AskAt, Role, Site
from metamem.core.protocols import CallSite
from metamem.evaluation.jobs import Job
from metamem.models.placed import PlacedChat, for_design


class Chats:
    """Gives out chats and adds up what they cost."""

    def __init__(self, job: Job, ask: AskAt | None) -> None:
        self._job, self._ask = job, ask
        self.calls = 0
        self.tokens = 0

    def for_agent(self, task: str, repeat: int) -> PlacedChat | None:
        return self._chat(self._site("agent", self._job.phase, task, repeat))

    def for_design(
        self, phase: str, task: str, repeat: int = 0, most: int | None = None
    ) -> CallSite:
        """Where a memory is called, with the model as a design asks it, where there is one.

        At a site where it is called several times it may ask the model at most so often in all.
        """
        site = self._site("memory", phase, task, repeat)
        chat = self._chat(site)
        return CallSite(site, None if chat is None else for_design(chat, most))

    def for_score(self, task: str, repeat: int) -> PlacedChat | None:
        """The model of the role `memory`, for a domain that asks it while it scores parameters."""
        return self._chat(self._site("memory", self._job.phase, task, repeat))

    def _site(self, role: Role, phase: str, task: str, repeat: int) -> Site:
        design = self._job.design.id if self._job.design is not None else ""
        return Site(role, "", design, phase, task, repeat, self._job.setup.seed)

    def _chat(self, site: Site) -> PlacedChat | None:
        if self._ask is None or site.role not in self._job.setup.models:
            return None
        return PlacedChat(self._ask, site, self._count)

    def _count(self, tokens: int) -> None:
        self.calls += 1
        self.tokens += tokens
