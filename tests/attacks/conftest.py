"""One jail for each isolation, shared by a whole file; each holds every attack on its own."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from metamem.core.errors import JailUnavailable
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from tests.attacks.canaries import Canaries

# Wall time is long: on a busy machine half a second of CPU may take many.
LIMITS = Limits(
    retrieve_cpu=0.5, update_cpu=5, wall=60, memory_mb=256, tool_calls=20, line_bytes=100_000
)


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    with Canaries() as all_of_them:
        yield all_of_them


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["bwrap", "self"])
async def jail(request: pytest.FixtureRequest, canaries: Canaries) -> AsyncIterator[Jail]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in canaries.environment.items():
            patch.setenv(name, value)  # what a careless launcher would let in
        try:
            async with Jail(LIMITS, isolation=request.param) as started:
                yield started
        except JailUnavailable:
            pytest.skip(f"the isolation {request.param} does not work here")
