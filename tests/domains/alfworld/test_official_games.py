"""All published games: every stored walkthrough wins, exactly at its last command."""

import json
import tarfile

import pytest

from metamem.domains.alfworld.engine import NOTHING, AlfworldWorld
from metamem.domains.alfworld.game import parse_game
from tests.thirdparty import third_party

pytestmark = [pytest.mark.data, pytest.mark.slow]


def test_all_walkthroughs_win_at_their_last_command():
    counts: dict[str, int] = {}
    with tarfile.open(third_party("alfworld_games.tar.xz")) as archive:
        for member in archive:
            if not member.name.endswith("game.tw-pddl"):
                continue
            file = archive.extractfile(member)
            assert file is not None
            game = parse_game(json.load(file), member.name)
            world = AlfworldWorld(game)
            seen = [world.step(command) for command in game.walkthrough]
            ends = [s.done for s in seen]
            assert ends == [False] * (len(ends) - 1) + [True], member.name
            assert NOTHING not in [s.text for s in seen], member.name
            split, task = member.name.split("/")[-4:-2]
            kind, thing, _, target, _ = task.split("-")
            assert (game.goal.kind, game.goal.object) == (kind, thing.lower()), member.name
            assert game.goal.target == target.lower(), member.name
            counts[split] = counts.get(split, 0) + 1
    assert counts == {"train": 3553, "valid_seen": 140, "valid_unseen": 134, "valid_train": 200}
