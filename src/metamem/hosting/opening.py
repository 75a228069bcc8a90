"""Opening a memory: from the newest snapshot that fits, and what the log holds beyond it."""

from metamem.core.protocols import ExperienceLog
from metamem.core.types import Design
from metamem.designs.jailed import Jail, JailedMemory
from metamem.designs.toolbox import TOOLBOX_VERSION
from metamem.hosting.feeding import CallSiteOf, Fed, Feeder, Keeping, nowhere
from metamem.hosting.memory import HostedMemory, Rollout
from metamem.hosting.snapshots import Identity, SnapshotFolder
from metamem.models.embedders import AnyEmbedder


async def open_unkept(
    jail: Jail,
    design: Design,
    *,
    seed: int,
    embedder: AnyEmbedder,
    rollout: Rollout = "frozen",
    call_site_of: CallSiteOf = nowhere,
) -> HostedMemory:
    """A fresh memory that is not kept: it ends with its process."""
    running = await jail.open(design, seed=seed, embedder=embedder)
    return HostedMemory(Fed(running), rollout, call_site_of)


async def open_kept(
    jail: Jail,
    design: Design,
    log: ExperienceLog,
    snapshots: SnapshotFolder,
    *,
    seed: int,
    embedder: AnyEmbedder,
    rollout: Rollout = "frozen",
    call_site_of: CallSiteOf = nowhere,
    model: str = "",
    learned: bool = True,
) -> HostedMemory:
    """A memory that has learned all that is in the log, and adds to it.

    `model` is the fingerprint of the one that its calls may ask. One that is not `learned` knows what
    is in the newest snapshot, and learns the rest when it is told to catch up.
    """

    async def start(state: bytes | None) -> JailedMemory:
        return await jail.open(design, seed=seed, embedder=embedder, snapshot=state)

    identity = Identity(design.id, seed, embedder.fingerprint, TOOLBOX_VERSION, rollout, model)
    feeder = Feeder(Keeping(log, snapshots, identity, start), call_site_of)
    fed = await feeder.fed(None, await log.length() if learned else 0)
    return HostedMemory(fed, rollout, call_site_of, feeder)
