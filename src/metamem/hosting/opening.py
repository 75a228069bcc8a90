"""Opening a memory: from the newest snapshot that fits, and what the log holds beyond it."""

from metamem.core.errors import DesignFailure
from metamem.core.protocols import ExperienceLog
from metamem.core.types import Design
from metamem.designs.jailed import Jail, JailedMemory
from metamem.designs.toolbox import TOOLBOX_VERSION
from metamem.hosting.memory import HostedMemory, Keeping, PlaceOf, Rollout, nowhere
from metamem.hosting.snapshots import Identity, Misfit, Snapshot, SnapshotFolder
from metamem.models.embedders import AnyEmbedder


async def open_memory(
    jail: Jail,
    design: Design,
    *,
    seed: int,
    embedder: AnyEmbedder,
    rollout: Rollout = "frozen",
    place_of: PlaceOf = nowhere,
) -> HostedMemory:
    """A fresh memory that is not kept: it ends with its process."""
    running = await jail.open(design, seed=seed, embedder=embedder)
    return HostedMemory(running, rollout, place_of)


async def open_kept(
    jail: Jail,
    design: Design,
    log: ExperienceLog,
    snapshots: SnapshotFolder,
    *,
    seed: int,
    embedder: AnyEmbedder,
    rollout: Rollout = "frozen",
    place_of: PlaceOf = nowhere,
) -> HostedMemory:
    """A memory that has learned all that is in the log, and adds to it."""
    identity = Identity(design.id, seed, embedder.fingerprint, TOOLBOX_VERSION, rollout)
    note = ""
    running: JailedMemory | None = None
    snapshot: Snapshot | None = None
    try:
        snapshot = await snapshots.newest(identity, log)
        if snapshot is not None:
            running = await jail.open(design, seed=seed, embedder=embedder, snapshot=snapshot.state)
    except (Misfit, DesignFailure) as misfit:
        note = f"the snapshot of this memory is not used, the log is replayed: {misfit}"
        snapshot = None
    if running is None:
        running = await jail.open(design, seed=seed, embedder=embedder)
    memory = HostedMemory(
        running, rollout, place_of, Keeping(log, snapshots, identity), start=snapshot
    )
    memory.notes += [note] if note else []
    try:
        await memory.catch_up(log)
    except BaseException:
        await running.close()
        raise
    return memory
