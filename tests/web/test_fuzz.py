"""Requests that nobody would send: none is answered with an error of the server's own."""

from pathlib import Path

import pytest

from tests.extras import needs

needs("fastapi")
needs("schemathesis")
from bench.fuzz import fuzz, server


@pytest.mark.slow
def test_made_up_requests_do_no_harm(tmp_path: Path) -> None:
    with server(tmp_path) as (url, key):
        report = fuzz(url, key, 400, start=1)
    assert report.requests > 250
    assert len(report.reached) >= 15  # much of it really does something
    assert not report.wrong, report.wrong[:5]
