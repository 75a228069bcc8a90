"""A memory for one's own agent: ten lines, a log on disk, and nothing lost."""

import json

import pytest

import metamem
from metamem.core.errors import DataError, DesignFailure, UnknownName, UsageError
from metamem.core.types import Design
from metamem.designs.library import load


def episode(goal="open the box", action="turn the key", reward=1.0):
    return metamem.Experience(goal=goal, steps=(metamem.Step(action, "It opens."),), reward=reward)


def test_what_was_learned_is_there_after_reopening(tmp_path):
    with metamem.open_memory("success_retrieval", tmp_path) as memory:
        assert "turn the key" not in memory.retrieve("open the box")
        memory.update(episode())
        told = memory.retrieve("open the box")
        assert "turn the key" in told
    with metamem.open_memory("success_retrieval", tmp_path) as memory:
        assert memory.retrieve("open the box") == told


def test_a_design_of_the_archive_is_opened_by_its_id(tmp_path, monkeypatch):
    learned = Design(load("success_retrieval").source + "\n# learned\n")
    with metamem.api.open_home(tmp_path / "home") as archive:
        archive.add_design(learned)
    with metamem.open_memory(learned.id[:8], home=tmp_path / "home") as memory:
        assert memory.design == learned
    monkeypatch.setenv("METAMEM_HOME", str(tmp_path / "home"))
    with metamem.open_memory(learned.id) as memory:
        memory.update(episode())
        assert "turn the key" in memory.retrieve("open the box")
    with pytest.raises(UnknownName, match="or an id in the archive"):
        metamem.open_memory("ffffffff")
    monkeypatch.setenv("METAMEM_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(UnknownName):
        metamem.open_memory(learned.id)
    assert not (tmp_path / "nowhere").exists()


def test_another_design_takes_over_the_same_log(tmp_path):
    with metamem.open_memory("no_memory", tmp_path) as memory:
        memory.update(episode())
        assert memory.retrieve("open the box") == ""
    with metamem.open_memory("trajectory_retrieval", tmp_path) as memory:
        assert "turn the key" in memory.retrieve("open the box")


def test_a_torn_last_line_is_dropped_and_a_damaged_one_is_named(tmp_path):
    with metamem.open_memory("success_retrieval", tmp_path) as memory:
        memory.update(episode())
    log = tmp_path / "experiences.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"goal": "half a li')
    with metamem.open_memory("success_retrieval", tmp_path) as memory:
        assert "turn the key" in memory.retrieve("open the box")
        memory.update(episode("shut the box", "push the lid"))
    assert len(log.read_bytes().splitlines()) == 2
    log.write_bytes(b"not json\n" + whole)
    with pytest.raises(DataError, match="line 1 is damaged"):
        metamem.open_memory("success_retrieval", tmp_path)


def test_advice_stays_within_its_budget(tmp_path):
    with metamem.open_memory("trajectory_retrieval", advice_tokens=5) as memory:
        memory.update(episode())
        assert len(memory.retrieve("open the box").split()) <= 5


def test_a_design_that_fails_says_so_and_the_experience_is_kept(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text(
        "from metamem.designs import Memory\n\n\nclass B(Memory):\n    '''B.'''\n\n"
        "    async def update(self, experience):\n        raise ValueError('too much')\n\n"
        "    async def retrieve(self, query):\n        return 'still here'\n"
    )
    with metamem.open_memory(str(broken), tmp_path / "m") as memory:
        with pytest.raises(DesignFailure, match="too much"):
            memory.update(episode())
        assert memory.retrieve("x") == "still here"
    with metamem.open_memory(str(broken), tmp_path / "m") as memory:
        assert memory.failed_updates == 1
    with metamem.open_memory("success_retrieval", tmp_path / "m") as memory:
        assert "turn the key" in memory.retrieve("open the box")


def test_an_unknown_design_is_refused():
    with pytest.raises(UnknownName, match="succes_retrieval"):
        metamem.open_memory("succes_retrieval")


def test_own_episodes_are_read_from_json_lines(tmp_path):
    path = tmp_path / "mine.jsonl"
    rows = [
        {"goal": "g", "steps": [{"action": "a", "observation": "o"}], "reward": 1},
        {"goal": "h", "steps": [["a", "o", ["b"], 0.5, True]]},
        {"messages": [{"speaker": "ann", "text": "hello"}]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    read = metamem.read_episodes(path)
    assert [e.goal for e in read] == ["g", "h", ""]
    assert read[1].steps[0].actions == ("b",)
    assert read[2].messages[0].speaker == "ann"


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"goal": "g"}', '{"steps": [{"observation": "o"}]}', "3"]
)
def test_a_line_that_is_no_episode_is_named(tmp_path, line):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"goal": "g", "steps": [{"action": "a"}]}\n' + line + "\n")
    with pytest.raises(DataError, match="line 2"):
        metamem.read_episodes(path)
    with pytest.raises(UsageError):
        metamem.read_episodes(tmp_path / "absent.jsonl")


def test_a_design_that_asks_a_model_is_answered_and_reopens_for_free(tmp_path):
    """What the model said is on record: rebuilding the memory from its log asks nothing again."""
    path = tmp_path / "memory"
    episode = {
        "goal": "make tea",
        "steps": [["boil water", "It boils.", [], 0.0, False]],
        "reward": 1.0,
    }
    with metamem.open_memory(
        "dynamic_cheatsheet", path, model=f"scripted:{__name__}:sheet"
    ) as memory:
        memory.update(episode)
        told = memory.retrieve("make tea")
    assert "Always boil the water first." in told
    asked = len(ASKED)
    assert asked >= 1
    with metamem.open_memory(
        "dynamic_cheatsheet", path, model=f"scripted:{__name__}:sheet"
    ) as memory:
        assert memory.retrieve("make tea") == told
    assert len(ASKED) == asked


ASKED = []


def sheet(question):
    ASKED.append(question)
    return "<cheatsheet>Always boil the water first.</cheatsheet>"


WAITING = Design('''
from metamem.designs import Memory, Wait


class Waiting(Memory):
    """What came after what."""

    def __init__(self, tools):
        super().__init__(tools)
        self.known = {}

    async def update(self, experience):
        for step in experience.steps:
            self.known[step.observation] = step.action

    async def retrieve(self, query):
        seen = [step.observation for step in query.steps]
        return ", ".join(self.known[s] for s in seen if s in self.known), Wait(words="box")
''')


def test_memory_beside_an_agent_is_asked_again_when_what_it_waits_for_has_come():
    with metamem.open_memory(WAITING) as memory:
        first = memory.acting("open the box", "A hall.", ["go"])
        assert not first.saw("go", "A box!", ["open"])  # asked, and nothing to add
        assert not first.saw("open", "A box, open.", reward=1.0, done=True)
        assert [(a.at, a.why) for a in first.asked] == [(0, ""), (1, "the words 'box'")]
        memory.update(first.experience(1.0))
        beside = memory.acting("open the box", "A hall.", ["go"])
        assert beside.advice == ""
        assert not beside.saw("go", "A door.", ["go"])
        assert beside.saw("go", "A box!", ["open"])
        assert beside.advice == "go"
        assert len(beside.asked) == 2
        often = memory.acting("open the box", "A hall.", ["go"], every=1)
        for _ in range(3):
            often.saw("go", "A hall.", ["go"])
        assert [a.at for a in often.asked] == [0, 1, 2, 3]
