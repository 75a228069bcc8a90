"""The measuring server against a plain reading of the same small random model."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from random import Random
from typing import Any

import pytest

from tests.extras import needs

torch = needs("torch")
transformers = needs("transformers")

from bench.network import BLOCK, block_bytes
from bench.serve import Refused, Service, serve, service
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from metamem.core.chat import Question, Turn
from metamem.models.base import Fault
from metamem.models.config import ModelConfig

ACTIONS = ("go to desk 1", "go to desk 10", "go to bed 1", "take mug 1 from desk 1", "look")
TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [("t", "o"), ("g", "o"), ("d", "e"), ("s", "k"), ("de", "sk"), ("m", "u"), ("mu", "g")]
    words = [*letters, *(a + b for a, b in pairs)]
    made = Tokenizer(models.BPE({word: n for n, word in enumerate(words)}, pairs))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>")
    fast.add_special_tokens({"additional_special_tokens": ["<|start|>"]})
    fast.chat_template = TEMPLATE
    return fast


@pytest.fixture(scope="module", params=["qwen2", "llama"])
def model(request: Any, tokenizer: Any) -> Any:
    torch.manual_seed(7)
    kind = {"qwen2": transformers.Qwen2Config, "llama": transformers.LlamaConfig}[request.param]
    config = kind(
        vocab_size=len(tokenizer),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        initializer_range=0.3,
        eos_token_id=tokenizer.eos_token_id,
    )
    made = transformers.AutoModelForCausalLM.from_config(config).eval()
    for name, weight in made.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(weight)
    return made


def _service(model: Any, tokenizer: Any, blocks: int = 2000) -> Service:
    return service(
        "tiny", model, tokenizer, blocks * block_bytes(model.config, model.dtype) / 2**30
    )


@pytest.fixture
def ready(model: Any, tokenizer: Any) -> Any:
    made = _service(model, tokenizer)
    yield made
    made.close()


def _reference(model: Any, tokenizer: Any, messages: list[dict[str, str]], choices: Sequence[str]):
    """Token by token over the whole text, nothing kept: the best allowed answer's text."""
    ids = tokenizer(
        tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False),
        add_special_tokens=False,
    )["input_ids"]
    answers = [(*tokenizer(c)["input_ids"], tokenizer.eos_token_id) for c in choices]
    said: list[int] = []
    while tokenizer.eos_token_id not in said:
        allowed = sorted({a[len(said)] for a in answers if a[: len(said)] == tuple(said)})
        with torch.no_grad():
            logits = model(torch.tensor([ids + said])).logits[0, -1]
        said.append(max(allowed, key=lambda token: float(logits[token])))
    return tokenizer.decode(said[:-1])


def _talks(number: int, turns: int) -> list[list[dict[str, str]]]:
    """Conversations of different lengths that begin alike."""
    chance = Random(number)
    talks = []
    for n in range(number):
        talk = [{"role": "system", "content": "Rules of the house. " * 4}]
        for _ in range(chance.randint(0, turns)):
            talk.append({"role": "user", "content": f"You see mug {chance.randint(1, 4)}. "})
            talk.append({"role": "assistant", "content": chance.choice(ACTIONS)})
        talk.append({"role": "user", "content": f"Task {n}: " + "desk " * chance.randint(1, 30)})
        talks.append(talk)
    return talks


EXAMPLES = "".join(
    f"### Example\n\nTask: find mug {n}\nYou see desk {n}.\n> go to desk {n}\nA mug.\n\n"
    for n in range(6)
)


def _running(number: int) -> list[str]:
    """Transcripts of different tasks behind the same examples; some tasks come twice."""
    chance = Random(number)
    tasks = [f"Task: find the mug {chance.randint(1, 99)}\n" for _ in range(number // 2)] * 2
    sights = ["You see " + "desk " * chance.randint(1, 9) + ".\n" for _ in tasks]
    return [f"{EXAMPLES}{task}{sight}> " for task, sight in zip(tasks, sights, strict=True)]


def _next_line(model: Any, tokenizer: Any, text: str, choices: Sequence[str]) -> str:
    """The best allowed line, read over the whole text with nothing kept."""
    ids = tokenizer(text.rstrip(" "), add_special_tokens=False)["input_ids"]
    answers = {
        c: tuple(tokenizer(f" {c}\n", add_special_tokens=False)["input_ids"]) for c in choices
    }
    said: tuple[int, ...] = ()
    while said not in answers.values():
        allowed = sorted({a[len(said)] for a in answers.values() if a[: len(said)] == said})
        with torch.no_grad():
            logits = model(torch.tensor([[*ids, *said]])).logits[0, -1]
        said = (*said, max(allowed, key=lambda token: float(logits[token])))
    return next(choice for choice, tokens in answers.items() if tokens == said)


def _line(text: str, **more: Any) -> dict[str, Any]:
    return {"prompt": text, "max_tokens": 64, "temperature": 0, **more}


def _body(messages: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    return {"messages": messages, "max_tokens": 64, "temperature": 0, **more}


def _text(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


@pytest.mark.parametrize("blocks", [2000, 60])  # with room for all, and with room for few
async def test_constrained_answers_are_those_of_the_plain_model(
    model: Any, tokenizer: Any, blocks: int
) -> None:
    made = _service(model, tokenizer, blocks)
    talks = _talks(12, 4)
    chance = Random(1)
    lists = [chance.sample(ACTIONS, chance.randint(1, len(ACTIONS))) for _ in talks]
    wanted = [_reference(model, tokenizer, *pair) for pair in zip(talks, lists, strict=True)]
    for _ in range(2):  # the second time from kept prefixes
        bodies = [
            _body(talk, structured_outputs={"choice": choices})
            for talk, choices in zip(talks, lists, strict=True)
        ]
        answers = await asyncio.gather(*(made.answer(body) for body in bodies))
        assert [_text(answer) for answer in answers] == wanted
    made.close()
    assert len(set(wanted)) > 2  # the model does not always say the same


async def test_a_next_turn_takes_over_what_was_computed(
    model: Any, tokenizer: Any, ready: Service
) -> None:
    talk = _talks(3, 4)[-1]
    for turn in range(4):
        answer = await ready.answer(_body(talk, structured_outputs={"choice": ACTIONS}))
        assert _text(answer) == _reference(model, tokenizer, talk, ACTIONS)
        assert (answer["usage"]["prompt_tokens_details"]["cached_tokens"] > 0) == (turn > 0)
        talk += [
            {"role": "assistant", "content": _text(answer)},
            {"role": "user", "content": f"Turn {turn}. You see bed 1."},
        ]


async def test_free_answers_are_those_of_the_plain_model(
    model: Any, tokenizer: Any, ready: Service
) -> None:
    talks = _talks(6, 3)
    answers = await asyncio.gather(*(ready.answer(_body(t, max_tokens=12)) for t in talks))
    for talk, answer in zip(talks, answers, strict=True):
        text = tokenizer.apply_chat_template(talk, add_generation_prompt=True, tokenize=False)
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            whole = model.generate(ids, max_new_tokens=12, do_sample=False)[0].tolist()
        made = whole[ids.shape[1] :]
        assert _text(answer) == tokenizer.decode(made, skip_special_tokens=True)
        assert answer["usage"]["prompt_tokens"] == ids.shape[1]
        assert answer["usage"]["completion_tokens"] == len(made)
        ended = made[-1] == tokenizer.eos_token_id
        assert answer["choices"][0]["finish_reason"] == ("stop" if ended else "length")


@pytest.mark.parametrize("blocks", [2000, 90])  # with room for all, and with room for few
async def test_lines_behind_shared_examples_are_those_of_the_plain_model(
    model: Any, tokenizer: Any, blocks: int
) -> None:
    made = _service(model, tokenizer, blocks)
    texts = _running(12)
    bodies = [_line(text, structured_outputs={"choice": ACTIONS}) for text in texts]
    wanted = [_next_line(model, tokenizer, text, ACTIONS) for text in texts]
    answers = await asyncio.gather(*(made.go_on(body) for body in bodies))
    made.close()
    assert [answer["choices"][0]["text"] for answer in answers] == wanted
    assert len(set(wanted)) > 1
    # They came together, and the examples were read once all the same.
    shared = len(tokenizer(EXAMPLES, add_special_tokens=False)["input_ids"])
    cached = sorted(a["usage"]["prompt_tokens_details"]["cached_tokens"] for a in answers)
    assert cached[0] == 0 and all(tokens > shared - 2 * BLOCK for tokens in cached[1:])


async def test_a_transcript_goes_on_from_what_was_computed(
    model: Any, tokenizer: Any, ready: Service
) -> None:
    text = _running(2)[0]
    for turn in range(4):
        answer = await ready.go_on(_line(text, structured_outputs={"choice": ACTIONS}))
        said = answer["choices"][0]["text"]
        assert said == _next_line(model, tokenizer, text, ACTIONS)
        known = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
        assert known > answer["usage"]["prompt_tokens"] - 4 * BLOCK or not turn
        text += f"{said}\nYou see bed {turn}.\n> "


async def test_a_free_line_ends_where_the_line_ends(
    model: Any, tokenizer: Any, ready: Service
) -> None:
    for text in _running(6):
        answer = await ready.go_on(_line(text.rstrip(), max_tokens=20))
        ids = tokenizer(text.rstrip(), return_tensors="pt", add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            whole = model.generate(ids, max_new_tokens=20, do_sample=False)[0].tolist()
        wanted = tokenizer.decode(whole[ids.shape[1] :], skip_special_tokens=True)
        assert answer["choices"][0]["text"] == wanted.partition("\n")[0]


@pytest.mark.parametrize(
    "body",
    [{}, {"prompt": " "}, {"prompt": 1}, _line("x", structured_outputs={"choice": ["a\nb"]})],
)
async def test_a_running_text_that_makes_no_sense_is_refused(
    ready: Service, body: dict[str, Any]
) -> None:
    with pytest.raises(Refused):
        await ready.go_on(body)


async def test_chance_is_the_requests_own(ready: Service) -> None:
    talks = _talks(8, 2)

    def body(n: int) -> dict[str, Any]:
        only = {"choice": ACTIONS}
        return _body(talks[n % 8], temperature=1.5, seed=n, structured_outputs=only)

    together = await asyncio.gather(*(ready.answer(body(n)) for n in range(64)))
    alone = [await ready.answer(body(n)) for n in range(0, 64, 9)]
    assert [_text(a) for a in alone] == [_text(together[n]) for n in range(0, 64, 9)]
    assert {_text(a) for a in together} <= set(ACTIONS)
    by_talk = [{_text(together[n]) for n in range(talk, 64, 8)} for talk in range(8)]
    assert any(len(said) > 1 for said in by_talk)


async def test_one_allowed_answer_needs_no_thought(tokenizer: Any, ready: Service) -> None:
    answer = await ready.answer(_body(_talks(1, 1)[0], structured_outputs={"choice": ["look"]}))
    assert _text(answer) == "look"
    assert answer["usage"]["completion_tokens"] == len(tokenizer("look")["input_ids"]) + 1
    assert "0 rounds" in ready.state()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": "x"}], "max_tokens": -1},
        {"messages": [{"role": "user", "content": "x"}], "structured_outputs": {"choice": [1]}},
        {"messages": [{"role": "user", "content": "x " * 2000}]},
    ],
)
async def test_what_cannot_be_answered_is_refused(ready: Service, body: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        await ready.answer(body)
    assert refused.value.status == 400


@pytest.fixture
async def url(ready: Service) -> AsyncIterator[str]:
    server = await serve(ready, 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    server.close()


async def test_metamem_asks_it_over_http(model: Any, tokenizer: Any, url: str) -> None:
    name = f"openai:tiny@{url}"
    opened = ModelConfig(options={name: {"constrain": "vllm"}}).open(name)
    talks = _talks(6, 3)
    questions = [
        Question(
            tuple(Turn(t["role"], t["content"]) for t in talk), choices=ACTIONS, temperature=0.0
        )
        for talk in talks
    ]
    replies = await asyncio.gather(*(opened.complete(q) for q in questions))
    assert [r.text for r in replies] == [_reference(model, tokenizer, t, ACTIONS) for t in talks]
    assert all(reply.usage.input > 40 and reply.usage.output > 1 for reply in replies)
    with pytest.raises(Fault, match="400"):
        await opened.complete(Question((Turn("user", "x " * 2000),)))
    await opened.close()
    elsewhere = f"openai:tiny@{url.removesuffix('/v1')}/v2"
    lost = ModelConfig().open(elsewhere)
    with pytest.raises(Fault, match="404"):
        await lost.complete(questions[0])
    await lost.close()


async def test_metamem_has_running_text_continued(model: Any, tokenizer: Any, url: str) -> None:
    name = f"openai:tiny@{url}"
    options = {"constrain": "vllm", "continues": True}
    opened = ModelConfig(options={name: options}).open(name)
    plain = ModelConfig(options={name: {"constrain": "vllm"}}).open(name)
    assert opened.fingerprint != plain.fingerprint
    text = _running(2)[0]
    question = Question((Turn("user", text),), choices=ACTIONS, temperature=0.0, running=True)
    assert (await opened.complete(question)).text == _next_line(model, tokenizer, text, ACTIONS)
    as_turn = [{"role": "user", "content": text}]
    assert (await plain.complete(question)).text == _reference(model, tokenizer, as_turn, ACTIONS)
    await opened.close()
    await plain.close()
