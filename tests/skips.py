"""A test that is skipped proves nothing: every reason is shown, and under `make test` must be known.

`--allowed-skips FILE` names the reasons that are in order, one pattern a line (`*` stands for
anything); any other ends the tests with a failure. Without it the reasons are merely shown.
"""

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

_PREFIX = "Skipped: "


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--allowed-skips",
        metavar="FILE",
        type=Path,
        help="fail where a test is skipped for a reason that this file does not list",
    )


def allowed(path: Path) -> list[str]:
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def reason(report: Any) -> str:
    """Why a test, or a file of tests, was skipped; on one line."""
    _, _, said = report.longrepr
    return " ".join(said.removeprefix(_PREFIX).split())


def _reasons(config: pytest.Config) -> Counter[str]:
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    return Counter(map(reason, reporter.stats.get("skipped", []))) if reporter else Counter()


def _unknown(config: pytest.Config) -> list[str]:
    path: Path | None = config.getoption("--allowed-skips")
    if path is None:
        return []
    patterns = allowed(path)
    return [r for r in _reasons(config) if not any(fnmatchcase(r, p) for p in patterns)]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return  # one of several processes: whoever started them hears of every skip
    if session.exitstatus == pytest.ExitCode.OK and _unknown(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reasons, unknown = _reasons(config), _unknown(config)
    if not reasons:
        return
    terminalreporter.section("skipped, by reason")
    for why, count in reasons.most_common():
        mark = "NOT ALLOWED  " if why in unknown else ""
        terminalreporter.write_line(f"{count:5}  {mark}{why}", red=bool(mark))
    if unknown:
        terminalreporter.write_line(
            f"failed: {len(unknown)} of these reasons are not in {config.getoption('--allowed-skips')}."
            " Install what the tests need, or allow the reason there and say why.",
            red=True,
        )
