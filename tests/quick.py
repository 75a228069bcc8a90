"""`--quick`: only what runs in this process, without engines, and not for long.

No list says which tests those are, so a new one lands in the right place by itself: a test that
starts a process (a jail, a worker, a program) is skipped at that moment, a file that `needs` an
optional package is not loaded, and what is marked `slow` is not begun.
"""

import sys
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

OPTION = "--quick"
_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"}
FEW = 15  # examples of a property, unless it asks for a number of its own
_chosen = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="leave out what is slow or starts a process")


def pytest_configure(config: pytest.Config) -> None:
    global _chosen
    _chosen = config.getoption(OPTION)
    if _chosen:
        settings.register_profile(OPTION, max_examples=FEW)
        settings.load_profile(OPTION)
        config.pluginmanager.register(_Quick())


def leave_out_engines() -> None:
    """Skip the file of tests that asks for a package of an engine."""
    if _chosen:
        pytest.skip("needs an optional package", allow_module_level=True)


class _Quick:
    def __init__(self) -> None:
        self._in_test = False
        sys.addaudithook(self._watch)

    def _watch(self, event: str, _: tuple[Any, ...]) -> None:
        if self._in_test and event in _STARTS:
            pytest.skip("starts a process")  # is no `Exception`: what is tested lets it pass

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        self._in_test = True
        try:
            return (yield)
        finally:
            self._in_test = False

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.get_closest_marker("slow"):
            pytest.skip("is slow")
