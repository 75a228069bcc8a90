"""On which scale a score is shown, where all that is known of it is its domain's name."""

from collections.abc import Sequence

from metamem.core import registry
from metamem.core.errors import MetamemError
from metamem.core.figures import SHARES, Scale, scale_of
from metamem.runs.summary import Summary
from metamem.store.archive import Archive


class Scales:
    """By domain: as a finished run tells, or the domain itself; shares where nobody knows."""

    def __init__(self, archive: Archive) -> None:
        self._known: dict[str, Scale] = {}
        for run in archive.runs():
            summary = Summary.from_json(run.summary)
            played = next((row.evaluation for rows in summary.tables.values() for row in rows), "")
            evaluation = archive.evaluation(played) if played else None
            if evaluation is not None:
                self._known[evaluation.fingerprint.domain] = summary.scale

    def of(self, domain: str) -> Scale:
        if domain not in self._known:
            self._known[domain] = _by_name(domain)
        return self._known[domain]


def _by_name(domain: str) -> Scale:
    if domain not in registry.names("domains"):
        return SHARES
    try:
        return scale_of(registry.factory("domains", domain))
    except (MetamemError, TypeError):  # a package is missing, or only an instance could tell
        return SHARES


def score_column(scores: Sequence[tuple[Scale, float] | None]) -> tuple[str, list[str]]:
    """The heading of a column of scores, and its cells. Mixed ones carry their units."""
    scales = {score[0] for score in scores if score is not None}
    if len({scale.heading for scale in scales}) > 1:
        return "score", [f"{s[0].value(s[1])}{s[0].unit}" if s else "" for s in scores]
    heading = next(iter(scales), SHARES).heading
    return heading, [s[0].value(s[1]) if s else "" for s in scores]
