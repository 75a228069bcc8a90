"""Designs in the style of ALMA's repository run unchanged in the jail."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import networkx as nx
import pytest
import pytest_asyncio

from metamem.core.errors import DesignFailure
from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Message, Query, Step
from metamem.designs.jailed import Jail, JailedMemory
from metamem.designs.limits import Limits
from metamem.models.hashed_embedder import HashedEmbedder
from tests.designs.samples import EPISODES, QUERIES, START, VIEW
from tests.extras import needs

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEADER = """
import asyncio
import json
import re
from typing import Any, Dict, List, Optional
from dataclasses import dataclass, field

import networkx as nx
from agents.memo_structure import Sub_memo_layer, MemoStructure
from eval_envs.base_envs import Basic_Recorder
from utils.hire_agent import Agent, Embedding
from langchain_chroma import Chroma
"""

FLAT = """
from agents.memo_structure import Sub_memo_layer, MemoStructure
from eval_envs.base_envs import Basic_Recorder
from typing import Dict

class LastEpisode(MemoStructure):
    def __init__(self):
        super().__init__()
        self.database = {}

    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        return dict(self.database)

    async def general_update(self, recorder: Basic_Recorder) -> None:
        self.database = {"init": recorder.init, "steps": recorder.steps, "reward": recorder.reward}
"""

LAYERS = f"""{HEADER}
@dataclass
class Tasks(Sub_memo_layer):
    layer_intro: str = "Episodes by what they begin with."
    database: Optional[Any] = field(default=None)

    def __post_init__(self):
        if self.database is None:
            self.database = Chroma(embedding_function=Embedding())

    async def retrieve(self, **kwargs):
        docs = self.database.similarity_search(kwargs["query"], k=2)
        return [{{"task": d.page_content, **d.metadata}} for d in docs]

    async def update(self, **kwargs):
        meta = {{"reward": kwargs["reward"], "plan": json.dumps(kwargs["plan"])}}
        self.database.add_texts(texts=[kwargs["task"]], metadatas=[meta])


class Places(Sub_memo_layer):
    def __init__(self):
        super().__init__(layer_intro="Which place has which thing.", database=nx.Graph())

    async def retrieve(self, **kwargs):
        graph = self.database
        ranks = nx.pagerank(graph)  # the manual offers it, and networkx leaves it to scipy
        return {{
            "near": {{w: sorted(graph.neighbors(w)) for w in kwargs["words"] if w in graph}},
            "first": max(sorted(ranks), key=lambda n: round(ranks[n], 6)),
            "parts": nx.number_connected_components(graph),
        }}

    async def update(self, **kwargs):
        for step in kwargs["steps"]:
            m = re.match(r"The (.+?) 1 holds a (\\w+)", step["obs"])
            if m:
                self.database.add_edge(m.group(1), m.group(2), weight=1.0)
                nx.set_node_attributes(self.database, {{m.group(1): {{"kind": "place"}}}})


class Layered(MemoStructure):
    def __init__(self):
        super().__init__()
        self.tasks, self.places = Tasks(), Places()
        self.lock = asyncio.Lock()

    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        goal = recorder.init["goal"]
        near = await self.tasks.retrieve(query=goal)
        places = await self.places.retrieve(words=goal.split())
        return {{"similar": near, "places": places}}

    async def general_update(self, recorder: Basic_Recorder) -> None:
        async with self.lock:
            plan = [step["action_took"] for step in recorder.steps]
            await self.tasks.update(task=recorder.init["goal"], reward=recorder.reward, plan=plan)
            await self.places.update(steps=recorder.steps)
"""

ALFWORLD = f"""{HEADER}
class Alf(MemoStructure):
    def __init__(self):
        super().__init__()
        self.ways = {{}}

    def _goal(self, init):
        return re.search(r"Your task is to:\\s*(.+)", init["obs"], re.DOTALL).group(1).strip()

    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        return {{"way": self.ways.get(self._goal(recorder.init)), "can": recorder.init["actions_list"]}}

    async def general_update(self, recorder: Basic_Recorder) -> None:
        assert isinstance(recorder.steps[-1]["actions_list"], list)
        if recorder.reward == 1.0 and recorder.steps[-1]["dones"]:
            self.ways[self._goal(recorder.init)] = [s["action_took"] for s in recorder.steps]
"""

TEXTWORLD = f"""{HEADER}
class Text(MemoStructure):
    def __init__(self):
        super().__init__()
        self.best = {{}}

    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        return {{"best": self.best.get(recorder.init["goal"]), "obs": recorder.init["obs"]}}

    async def general_update(self, recorder: Basic_Recorder) -> None:
        self.best[recorder.init["goal"]] = max(s["scores"] for s in recorder.steps)
"""

MINIHACK = f"""{HEADER}
class Hack(MemoStructure):
    def __init__(self):
        super().__init__()
        self.seen = []

    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        init = recorder.init
        return {{"fields": sorted(init), "seen": self.seen, "can": list(init["action_dict"].keys()),
                 "now": init["long_term_context"] + init["short_term_context"] + init["goal"]}}

    async def general_update(self, recorder: Basic_Recorder) -> None:
        for step in recorder.steps:
            self.seen.append(step["long_term_context"] + step["short_term_context"])
"""

# The manual's own form of a schema has no `properties`; both forms must do.
ASKING = f"""{HEADER}
class Asking(MemoStructure):
    def __init__(self):
        super().__init__()
        self.notes = []

    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        agent = Agent(model="gpt-4o-mini", system_prompt="Be brief.")
        first = await agent.ask("one")
        second = await agent.ask("two", with_history=True)
        full = await agent.ask([{{"role": "system", "content": "S"}},
                                {{"role": "user", "content": "U"}}], with_full_msg=True)
        return {{"said": [first, second, full], "notes": self.notes,
                 "history": len(agent.get_agent_config()["history"])}}

    async def general_update(self, recorder: Basic_Recorder) -> None:
        loose = {{"lesson": {{"type": "string", "description": "what was learned"}},
                  "score": {{"type": "float", "required": True}}}}
        strict = {{"type": "object", "properties": {{"lesson": {{"type": "string"}}}},
                   "required": ["lesson"]}}
        prompt = json.dumps(recorder.steps)
        self.notes += await asyncio.gather(
            Agent("loose", output_schema=loose).ask(prompt, temperature=0.1),
            Agent("strict", strict, "gpt-4.1").ask(prompt, reasoning_effort="low"))
"""

EMBEDDING = f"""{HEADER}
class Vectors(MemoStructure):
    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        embedder = Embedding(model="text-embedding-3-small", retries=3, retry_delay=1.0)
        one = await embedder.get_embedding("red lamp")
        group = await embedder.get_batch_embeddings(["red lamp", "green door", ""])
        sims = await Embedding.compute_one_to_group_similarity(one, group)
        blocking = await asyncio.to_thread(embedder.embed_query, "red lamp")
        return {{"sims": [round(s, 6) for s in sims], "type": type(one[0]).__name__,
                 "same": blocking == one == embedder(["red lamp"])[0],
                 "pair": await embedder.compute_similarity(one, one)}}

    async def general_update(self, recorder: Basic_Recorder) -> None:
        pass
"""


def retrieving(body: str) -> str:
    """An ALMA design whose `general_retrieve` is a few lines; `db` is a filled store."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return f"""{HEADER}
class D(MemoStructure):
    def __init__(self):
        super().__init__()
        self.db = Chroma(embedding_function=Embedding())
        self.db.add_texts(["red lamp", "green door", "red lamps"],
                          [{{"n": 1, "ok": True}}, {{"n": 2, "ok": False}}, {{"n": 3, "ok": True}}],
                          ids=["a", "b", "c"])

    async def general_retrieve(self, recorder: Basic_Recorder) -> Dict:
        db = self.db
{lines}

    async def general_update(self, recorder: Basic_Recorder) -> None:
        self.got = recorder
"""


class Model:
    """Notes what it is asked; answers with the number of the question."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any, str]] = []

    async def __call__(self, prompt: str, schema: Any, system: str) -> Any:
        self.asked.append((prompt, schema, system))
        if schema is None:
            return f"reply {len(self.asked)}"
        await asyncio.sleep(0.05 if system == "loose" else 0)  # the first answer comes last
        return {"lesson": system}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def jail() -> AsyncIterator[Jail]:
    async with Jail(Limits(wall=20)) as started:
        yield started


async def opened(jail: Jail, source: str, **more: Any) -> JailedMemory:
    return await jail.open(Design(source), **{"seed": 1, "embedder": HashedEmbedder(), **more})


async def said(jail: Jail, source: str, **more: Any) -> Any:
    """What a design that has learned nothing says."""
    memory = await opened(jail, source, **more)
    try:
        return await memory.retrieve(QUERIES[0])
    finally:
        await memory.close()


async def taught(jail: Jail, source: str, **more: Any) -> JailedMemory:
    memory = await opened(jail, source, **more)
    for episode in EPISODES[:5]:
        await memory.update(episode)
    return memory


async def test_a_flat_design_gets_the_episode_as_a_recorder(jail: Jail) -> None:
    memory = await opened(jail, FLAT)
    await memory.update(EPISODES[0])
    told = await memory.retrieve(QUERIES[0])
    assert told["init"] == {"obs": VIEW, "actions_list": list(START), "goal": EPISODES[0].goal}
    last = EPISODES[0].steps[-1]
    assert told["steps"][-1] == {
        "action_took": last.action,
        "obs": last.observation,
        "scores": 1.0,
        "dones": True,
        "actions_list": list(last.actions),
    }
    assert (len(told["steps"]), told["reward"]) == (3, 1.0)
    await memory.close()


async def test_layers_with_a_store_and_a_graph_learn_and_advise(jail: Jail) -> None:
    memory = await taught(jail, LAYERS)
    told = await memory.retrieve(QUERIES[0])
    assert told["similar"][0]["task"] == "bring a lantern to the captain"
    assert json.loads(told["similar"][0]["plan"])
    assert told["places"]["near"] == {"lantern": ["north tower"]}
    assert (told["places"]["first"], told["places"]["parts"]) == ("north tower", 1)
    await memory.close()


async def test_forks_and_snapshots_carry_all_of_it(jail: Jail) -> None:
    memory = await taught(jail, LAYERS)
    before = await memory.retrieve(QUERIES[1])
    fork = await memory.fork()
    restored = await opened(jail, LAYERS, snapshot=await memory.snapshot())
    await memory.update(EPISODES[1])
    assert await fork.retrieve(QUERIES[1]) == await restored.retrieve(QUERIES[1]) == before
    await restored.update(EPISODES[1])  # its tools reach the host from the new process too
    assert await restored.retrieve(QUERIES[1]) == await memory.retrieve(QUERIES[1])
    for each in (memory, fork, restored):
        await each.close()


async def test_a_lock_that_was_waited_for_can_be_saved(jail: Jail) -> None:
    source = retrieving(
        "async def hold():\n    async with self.turn:\n        await asyncio.sleep(1)\n"
        "self.turn = getattr(self, 'turn', None) or asyncio.Lock()\n"
        "await asyncio.gather(hold(), hold(), hold())\nreturn {'free': not self.turn.locked()}"
    )
    memory = await opened(jail, source)
    assert await memory.retrieve(QUERIES[0]) == {"free": True}
    restored = await opened(jail, source, snapshot=await memory.snapshot())
    assert await restored.retrieve(QUERIES[0]) == {"free": True}
    await memory.close()
    await restored.close()


async def test_alfworld_the_task_stands_in_obs(jail: Jail) -> None:
    memory = await taught(jail, ALFWORLD)
    told = await memory.retrieve(QUERIES[0])
    assert told == {"way": [s.action for s in EPISODES[3].steps], "can": list(START)}
    already = f"A room.\n\nYour task is to: {QUERIES[0].goal}"
    assert (await memory.retrieve(Query(QUERIES[0].goal, already)))["way"] == told["way"]
    await memory.close()


async def test_textworld_the_goal_stands_alone(jail: Jail) -> None:
    memory = await taught(jail, TEXTWORLD)
    assert await memory.retrieve(QUERIES[0]) == {"best": 1.0, "obs": VIEW}
    await memory.close()


async def test_baba_a_step_may_cost(jail: Jail) -> None:
    memory = await opened(jail, TEXTWORLD)
    await memory.update(Experience("win", "baba is you", (), (Step("up", "", (), -0.001),), 0.0))
    assert (await memory.retrieve(Query("win", "flag is win")))["best"] == -0.001
    await memory.close()


async def test_minihack_has_contexts_in_place_of_obs(jail: Jail) -> None:
    memory = await opened(jail, MINIHACK)
    await memory.update(EPISODES[0])
    told = await memory.retrieve(QUERIES[0])
    assert told["fields"] == ["action_dict", "goal", "long_term_context", "short_term_context"]
    assert told["seen"] == [step.observation for step in EPISODES[0].steps]
    assert told["can"] == list(START)
    assert told["now"] == VIEW + QUERIES[0].goal
    await memory.close()


async def test_messages_are_seen_as_lines(jail: Jail) -> None:
    memory = await opened(jail, FLAT)
    talk = (Message("Ada", "I moved to Oslo.", "1 May"), Message("Bo", "Nice!"))
    await memory.update(Experience(messages=talk))
    told = await memory.retrieve(Query("Where does Ada live?"))
    assert told["init"]["obs"] == "[1 May] Ada: I moved to Oslo.\nBo: Nice!"
    await memory.close()


async def test_what_was_advised_is_in_the_recorder_that_follows(jail: Jail) -> None:
    source = retrieving(
        "return {'before': str(getattr(self, 'got', None) and self.got.memory_retrieved)}"
    )
    memory = await opened(jail, source)
    first = await memory.retrieve(Query("bring a lantern to the guard", VIEW))
    await memory.update(EPISODES[0])
    assert (await memory.retrieve(QUERIES[0]))["before"] == str(first)
    await memory.update(EPISODES[1])  # another goal: nothing was advised there
    assert (await memory.retrieve(QUERIES[0]))["before"] == "{}"
    await memory.close()


async def test_agents_ask_the_hosts_model(jail: Jail) -> None:
    model = Model()
    memory = await opened(jail, ASKING, at=CallSite(model=model))
    await memory.update(EPISODES[0])
    (prompt, loose, _), (_, strict, _) = model.asked
    assert json.loads(prompt)[0]["action_took"] == "go to north tower 1"
    assert loose == {
        "type": "object",
        "properties": {
            "lesson": {"type": "string", "description": "what was learned"},
            "score": {"type": "number"},
        },
    }
    assert strict["required"] == ["lesson"]
    told = await memory.retrieve(QUERIES[0])
    assert told["notes"] == [{"lesson": "loose"}, {"lesson": "strict"}]
    assert (told["said"], told["history"]) == (["reply 3", "reply 4", "reply 5"], 6)
    assert [(p, system) for p, _, system in model.asked[2:]] == [
        ("one", "Be brief."),
        ("user: one\n\nassistant: reply 3\n\nuser: two", "Be brief."),
        ("U", "S"),
    ]
    await memory.close()


async def test_an_agent_without_a_model_says_so(jail: Jail) -> None:
    with pytest.raises(DesignFailure, match=r"no model is configured.*line"):
        await said(jail, ASKING)


async def test_the_embedding_helper_awaited_and_blocking(jail: Jail) -> None:
    told = await said(jail, EMBEDDING)
    assert told["sims"][0] == 1.0 and told["sims"][1] < 0.9 and told["sims"][2] == 0.0
    assert (told["type"], told["same"], round(told["pair"], 6)) == ("float", True, 1.0)


async def test_a_blocking_question_among_awaited_ones(jail: Jail) -> None:
    source = retrieving(
        "async def search(word):\n"
        "    await asyncio.sleep(0)\n"
        "    return db.similarity_search(word, k=1)[0].page_content\n"
        "asked = [Agent('s').ask(w) for w in 'xyz']\n"
        "return {'all': await asyncio.gather(*asked, search('lamp'), search('door'))}"
    )
    told = await said(jail, source, at=CallSite(model=Model()))
    assert told["all"] == ["reply 1", "reply 2", "reply 3", "red lamp", "green door"]


async def test_no_two_stores_share(jail: Jail) -> None:
    source = retrieving(
        "one, two = Chroma(embedding_function=Embedding()), Chroma(embedding_function=Embedding())\n"
        "one.add_texts(['only here'])\n"
        "return {'two': [len(x.get()['ids']) for x in (one, two, db)],"
        " 'found': [d.page_content for d in two.similarity_search('only here')]}"
    )
    assert await said(jail, source) == {"two": [1, 0, 3], "found": []}


async def test_the_manuals_chroma_calls(jail: Jail) -> None:
    source = retrieving(
        "new = db.add_texts(texts=['blue box'], metadatas=[{'n': 4}])\n"
        "docs = db.similarity_search(query='red lamp', k=2)\n"
        "got = db.get(ids=['b'])\n"
        "db.delete(ids=['a', *new])\n"
        "return {'docs': [(d.page_content, d.metadata) for d in docs], 'one': got['documents'],"
        " 'meta': got['metadatas'], 'left': db.get()['ids'], 'count': db._collection.count()}"
    )
    assert await said(jail, source) == {
        "docs": [["red lamp", {"n": 1, "ok": True}], ["red lamps", {"n": 3, "ok": True}]],
        "one": ["green door"],
        "meta": [{"n": 2, "ok": False}],
        "left": ["b", "c"],
        "count": 2,
    }


async def test_the_chroma_calls_that_designs_make_beyond_the_manual(jail: Jail) -> None:
    source = retrieving(
        "from langchain_core.documents import Document\n"
        "near = db.similarity_search_with_score('red lamp', k=3)\n"
        "fit = db.similarity_search_with_relevance_scores('red lamp', k=3, score_threshold=0.9)\n"
        "both = {'$and': [{'ok': True}, {'n': {'$gt': 1}}]}\n"
        "mixed = db.max_marginal_relevance_search('red lamp', k=2, lambda_mult=0.0)\n"
        "retriever = db.as_retriever(search_kwargs={'k': 1, 'filter': {'ok': False}})\n"
        "raw = db._collection.query(query_texts=['red lamp'], n_results=1)\n"
        "db.add_documents([Document(page_content='tin', metadata={'n': 9})], ids=['a'])\n"
        "db.update_document('b', Document('a gate', {'n': 7}))\n"
        "return {'scores': [s for _, s in near], 'fit': [d.id for d, _ in fit],"
        " 'where': [d.id for d in db.similarity_search('red', filter=both)],"
        " 'mixed': [d.id for d in mixed],"
        " 'found': [d.id for d in await retriever.ainvoke('red lamp')], 'raw': raw['ids'],"
        " 'now': db.get(where={'n': {'$in': [7, 9]}})['documents'],"
        " 'meta': db.get_by_ids(['b'])[0].metadata}"
    )
    told = await said(jail, source)
    first, second, third = told.pop("scores")
    assert first == 0.0 < second < third <= 4.0  # squared distances of unit vectors
    assert told == {
        "fit": ["a"],
        "where": ["c"],
        "mixed": ["a", "b"],
        "found": ["b"],
        "raw": [["a"]],
        "now": ["tin", "a gate"],
        "meta": {"n": 7, "ok": False},
    }


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ("db.add_texts(['x'], [{'tags': ['a', 'b']}])", "Expected metadata value to be a str"),
        ("db.similarity_search('x', filter={'n': 1, 'ok': True})", "exactly one operator"),
        ("db.delete()", "which entries"),
        ("db.add_texts(['x', 'y'], ids=['1', '1'])", "Expected IDs to be unique"),
        ("import openai", "openai is not available in a jailed design: ask a model through"),
        ("import chromadb.config", "chromadb is not available.*langchain_chroma"),
        ("from dotenv import load_dotenv", "dotenv is not available.*no key"),
        ("import utils.secrets", "utils.secrets is not available in a jailed design"),
        ("return {'s': {1, 2}}", "returned what JSON cannot hold"),
        ("open('/etc/passwd')", "Error"),
    ],
)
async def test_what_is_wrong_is_said_clearly(jail: Jail, call: str, complaint: str) -> None:
    with pytest.raises(DesignFailure, match=complaint):
        await said(jail, retrieving(call))


async def test_optional_imports_are_still_optional(jail: Jail) -> None:
    source = retrieving("return {'here': here}").replace(
        "import asyncio",
        "try:\n    import finch\n    here = True\nexcept ImportError:\n    here = False\nimport asyncio",
        1,
    )
    assert await said(jail, source) == {"here": False}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (FLAT.replace("general_update", "update"), "LastEpisode does not define general_update"),
        (FLAT.replace("(self):", "(self, size):"), "missing 1 required positional argument"),
        (FLAT + "\nclass", "SyntaxError"),
        ("class MemoStructure: pass\nclass M(MemoStructure): pass", "not that of agents"),
        ("# MemoStructure\nx = 1", "no subclass of metamem.designs.Memory"),
    ],
)
async def test_a_broken_design_is_refused_with_a_reason(
    jail: Jail, source: str, complaint: str
) -> None:
    with pytest.raises(DesignFailure, match=complaint):
        await opened(jail, source)


async def test_the_first_structure_by_name_counts(jail: Jail) -> None:
    source = FLAT + FLAT.replace("LastEpisode", "Another").replace(
        "dict(self.database)", "{'a': 1}"
    )
    assert await said(jail, source) == {"a": 1}


async def test_a_list_is_told_as_text(jail: Jail) -> None:
    assert json.loads(await said(jail, retrieving("return ['a', {'b': 1}]"))) == ["a", {"b": 1}]


async def test_many_texts_cost_few_questions(jail: Jail) -> None:
    source = retrieving("return {'n': db._collection.count()}").replace(
        "        self.got = recorder",
        "        for n in range(300):\n            self.db.add_texts([f'text {n}'])",
    )
    memory = await opened(jail, source)
    await memory.update(EPISODES[0])
    asked = memory.tool_calls
    assert await memory.retrieve(QUERIES[0]) == {"n": 303}
    assert asked == memory.tool_calls == 1
    await memory.close()


async def test_long_texts_fit_into_messages(jail: Jail) -> None:
    source = retrieving("return {'top': db.similarity_search('word 7', k=1)[0].page_content[:6]}")
    source = source.replace(
        "        self.got = recorder",
        "        self.db.add_texts([f'word {n} ' + '\\N{EM DASH}' * 9000 for n in range(120)])",
    )
    memory = await opened(jail, source)
    await memory.update(EPISODES[0])  # a million letters, six bytes each
    assert await memory.retrieve(QUERIES[0]) == {"top": "word 7"}
    assert memory.tool_calls < 30
    await memory.close()


async def test_time_passes_by_episodes_and_is_the_same_in_every_run(jail: Jail) -> None:
    source = retrieving("return {'times': self.times}").replace(
        "        self.got = recorder",
        "        import time\n        from datetime import datetime\n"
        "        self.times = getattr(self, 'times', [])\n"
        "        self.times.append([int(time.time()), datetime.now().isoformat(timespec='seconds')])",
    )
    runs = []
    for _ in range(2):
        memory = await opened(jail, source)
        await memory.update(EPISODES[0])
        restored = await opened(jail, source, snapshot=await memory.snapshot())
        await restored.update(EPISODES[1])
        runs.append((await restored.retrieve(QUERIES[0]))["times"])
        await memory.close()
        await restored.close()
    assert runs[0] == runs[1]
    (first, day), (second, _) = runs[0]
    assert second - first == 60 and day == "2026-01-01T12:00:00"


async def test_pagerank_is_networkx_own(jail: Jail) -> None:
    needs("scipy")
    build = (
        "g = nx.DiGraph([(1, 2), (2, 3), (3, 1), (3, 4), (5, 5)])\ng.add_edge(1, 4, weight=2.5)\n"
    )
    told = await said(
        jail, retrieving(build + "return {str(n): r for n, r in nx.pagerank(g).items()}")
    )
    space: dict[str, Any] = {"nx": nx}
    exec(build, space)
    want = nx.pagerank(space["g"])
    assert told == {str(n): pytest.approx(rank, abs=1e-5) for n, rank in want.items()}


async def test_other_designs_load_nothing_of_it(jail: Jail) -> None:
    source = """
import sys
from metamem.designs import Memory
class D(Memory):
    async def retrieve(self, query):
        return {"alma": [m for m in sys.modules if "alma" in m or m == "agents"]}
    async def update(self, experience):
        pass
"""
    assert await said(jail, source) == {"alma": []}
