"""A model server for measurements: one GPU (or CPU), OpenAI's formats, hundreds of questions at
once.

    python -m bench.serve MODEL [--port 8000] [--device cuda] [--cache-gib 60] [--most-tokens N]

MODEL is a GGUF file or a folder as transformers saves them; needs torch and transformers. It knows
`messages`, `max_tokens`, `temperature`, `seed`, `response_format` with a JSON schema (put into
words) and `structured_outputs.choice`: then the answer is one of the given ones, decoded along the
tree of their tokens. `/completions` continues a running text (`prompt`) by one line.
"""

import argparse
import asyncio
import json
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from bench.decoder import Decoder, Pool, Row, Tree
from bench.network import Network, block_bytes

ROUND_TOKENS = 65_536  # fed in one round at most
DEFAULT_TOKENS = 1024
LOG_SECONDS = 10.0
_LINES = re.compile(r"(?<=\n)(?=\S)")  # no token of common tokenizers reaches across


class Refused(Exception):
    """A request that cannot be answered, and why."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Texts:
    """Between text and tokens. Texts are cut at special tokens and running ones at lines, so what
    was there before needs no new work."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        special = sorted(tokenizer.get_added_vocab(), key=len, reverse=True)
        self._special = (
            re.compile("(" + "|".join(map(re.escape, special)) + ")") if special else None
        )
        self._tokens = lru_cache(maxsize=200_000)(self._encode)
        self.end = self._end_of_turn()

    def prompt(self, messages: Sequence[dict[str, str]]) -> list[int]:
        text = self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        )
        parts = self._special.split(text) if self._special else [text]
        return [token for part in parts if part for token in self._tokens(part)]

    def running(self, text: str) -> list[int]:
        """A text that is to be continued."""
        return [token for line in _LINES.split(text) for token in self._tokens(line)]

    def tree(self, choices: Sequence[str]) -> tuple[Tree, int]:
        """All allowed answers, each ended by the end of the turn, and the tokens of the longest."""
        return _tree({choice: (*self._tokens(choice), self.end) for choice in choices})

    def lines(self, choices: Sequence[str], before: str) -> tuple[Tree, int]:
        """The same in a running text: each after some space and ended by a new line."""
        return _tree({choice: self._tokens(f"{before}{choice}\n") for choice in choices})

    @cached_property
    def line_ends(self) -> frozenset[int]:
        """All tokens with a new line in them."""
        size = len(self._tokenizer)
        return frozenset(n for n in range(size) if "\n" in self._tokenizer.decode([n]))

    def text(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True))

    def _end_of_turn(self) -> int:
        """What the template writes after an answer; a tokenizer's own end may be another token."""
        talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "ANSWER"}]
        text = self._tokenizer.apply_chat_template(talk, tokenize=False)
        rest = self._tokens(text.rpartition("ANSWER")[2])
        return rest[0] if rest else int(self._tokenizer.eos_token_id)

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _tree(answers: Mapping[str, Sequence[int]]) -> tuple[Tree, int]:
    """Answers by their tokens, of which none is the beginning of another, and the longest."""
    root: Tree = {}
    for answer, tokens in answers.items():
        node = root
        for token in tokens[:-1]:
            node = node.setdefault(token, {})  # type: ignore[assignment]
        node[tokens[-1]] = answer
    return root, max(map(len, answers.values()))


@dataclass(frozen=True, slots=True)
class Habits:
    """What a server does where a request leaves it open."""

    temperature: float = 1.0
    most_tokens: int = 0  # in an answer, whoever asks; 0: as many as are asked for
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """How an answer is wished for."""

    only: Sequence[str]  # the allowed answers; none: anything
    most: int  # tokens
    heat: float
    luck: Random

    def row(
        self, tokens: list[int], tree: Tree | None, longest: int, ends: frozenset[int] = frozenset()
    ) -> Row:
        return Row(
            tokens,
            min(self.most, longest),
            lambda row: None,
            temperature=self.heat,
            random=self.luck,
            tree=tree,
            ends=ends,
        )


class Service:
    """Questions in, answers out. The model works in a thread of its own."""

    def __init__(self, name: str, texts: Texts, decoder: Decoder, habits: "Habits") -> None:
        self.name, self._texts, self._decoder = name, texts, decoder
        self._habits, self._number = habits, 0
        self._inbox: SimpleQueue[Row | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._inbox.put(None)
        self._thread.join()

    async def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """One chat completion."""
        row = self._row(body)
        text = await self._text(row)
        said = {"message": {"role": "assistant", "content": text}}
        return self._told("chat.completion", row, said)

    async def go_on(self, body: dict[str, Any]) -> dict[str, Any]:
        """The next line of a running text."""
        row = self._running_row(body)
        text = (await self._text(row)).partition("\n")[0]
        return self._told("text_completion", row, {"text": text})

    async def _text(self, row: Row) -> str:
        loop = asyncio.get_running_loop()
        finished = loop.create_future()
        row.done = lambda _: loop.call_soon_threadsafe(_finish, finished)
        self._inbox.put(row)
        await finished
        if row.error:
            raise Refused(row.error, 500 if row.computed else 400)
        return row.chosen if row.chosen is not None else self._texts.text(row.made)

    def _told(self, what: str, row: Row, said: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"answer-{self._number}",
            "object": what,
            "model": self.name,
            "choices": [{"index": 0, **said, "finish_reason": "stop" if row.stopped else "length"}],
            "usage": {
                "prompt_tokens": row.prompt,
                "completion_tokens": len(row.made),
                "total_tokens": row.length,
                "prompt_tokens_details": {"cached_tokens": row.reused},
            },
        }

    def _row(self, body: dict[str, Any]) -> Row:
        try:
            messages = [{"role": m["role"], "content": m["content"]} for m in body["messages"]]
            wanted = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        except (KeyError, TypeError, AttributeError) as error:
            raise Refused(f"the request is not understood: {error!r}") from error
        if not messages:
            raise Refused("there are no messages")
        if wanted is not None:
            messages[-1]["content"] += (
                f"\n\nReply with JSON alone that fits this schema:\n{json.dumps(wanted)}"
            )
        asked = self._asked(body)
        tree, longest = self._texts.tree(asked.only) if asked.only else (None, asked.most)
        return asked.row(self._texts.prompt(messages), tree, longest)

    def _running_row(self, body: dict[str, Any]) -> Row:
        prompt = body.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            raise Refused("the prompt must be a text")
        asked, bare = self._asked(body), prompt.rstrip(" ")
        if any("\n" in choice for choice in asked.only):
            raise Refused("an answer in a running text is one line")
        # A space at the end belongs to the first word that follows, as tokenizers have it.
        tokens, before = self._texts.running(bare), prompt[len(bare) :]
        if asked.only:
            return asked.row(tokens, *self._texts.lines(asked.only, before))
        return asked.row(tokens, None, asked.most, self._texts.line_ends)

    def _asked(self, body: dict[str, Any]) -> "Asked":
        """What both formats say in the same way."""
        try:
            only = (body.get("structured_outputs") or {}).get("choice") or ()
            most = int(body.get("max_tokens") or DEFAULT_TOKENS)
            heat = body.get("temperature")
            heat = self._habits.temperature if heat is None else float(heat)
        except (TypeError, ValueError, AttributeError) as error:
            raise Refused(f"the request is not understood: {error!r}") from error
        if most < 1 or heat < 0 or not all(isinstance(c, str) and c for c in only):
            raise Refused("max_tokens, temperature or choice make no sense")
        self._number += 1
        seed = body.get("seed")
        luck = Random(f"{self._habits.seed} {self._number}" if seed is None else f"{seed}")
        return Asked(only, min(most, self._habits.most_tokens or most), heat, luck)

    def _work(self) -> None:
        told, busy = time.monotonic(), 0.0
        while True:
            try:
                # Whoever is still on the way joins this round: full rounds are the cheap ones.
                row = self._inbox.get(block=not self._decoder.busy)
                while True:
                    if row is None:
                        self._decoder.drop_all("the server was closed")
                        return
                    self._decoder.add(row)
                    row = self._inbox.get_nowait()
            except Empty:
                pass
            begun = time.monotonic()
            try:
                self._decoder.step()
            except Exception as error:
                self._decoder.drop_all(f"{type(error).__name__}: {error}")
                print(f"a round failed: {error!r}", file=sys.stderr, flush=True)
            busy += time.monotonic() - begun
            if time.monotonic() - told > LOG_SECONDS:
                told = time.monotonic()
                print(f"{self.state()}, {busy:.0f} s busy", file=sys.stderr, flush=True)

    def state(self) -> str:
        d = self._decoder
        return (
            f"{self._number} questions, {d.rounds} rounds, {d.fed} tokens read, {d.reused} reused,"
            f" {d.written} written"
        )


def _finish(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def connection(
    service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Requests of one connection, one after the other."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            fields = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
            content = await reader.readexactly(int(fields.get("content-length", 0)))
            status, answer = await _answered(service, first, content)
            body = json.dumps(answer).encode()
            writer.write(
                f"HTTP/1.1 {status} \r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        pass  # whoever asked has gone, or speaks no HTTP
    finally:
        writer.close()


async def _answered(service: Service, first: str, content: bytes) -> tuple[int, dict[str, Any]]:
    method, _, path = first.rpartition(" HTTP/")[0].partition(" ")
    if method == "GET" and path == "/v1/models":
        return 200, {"object": "list", "data": [{"id": service.name, "object": "model"}]}
    if method == "GET" and path == "/health":
        return 200, {"state": service.state()}
    ways = {"/v1/chat/completions": service.answer, "/v1/completions": service.go_on}
    if method != "POST" or path not in ways:
        return 404, {"error": {"message": f"there is no {method} {path}"}}
    try:
        body = json.loads(content)
        if not isinstance(body, dict):
            raise Refused("the request is no JSON object")
        return 200, await ways[path](body)
    except Refused as refused:
        return refused.status, {"error": {"message": str(refused)}}
    except (ValueError, RecursionError) as error:
        return 400, {"error": {"message": f"the request is not JSON: {error}"}}


def load(path: Path, device: str) -> tuple[Any, Any]:
    """Model and tokenizer of a folder or a GGUF file."""
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    source = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    folder = path.parent if source else path
    known = (folder / "tokenizer.json").is_file()  # read in no time, unlike a GGUF's own
    tokenizer = AutoTokenizer.from_pretrained(folder, **({} if known else source))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **source)
    if model.config.model_type not in ("qwen2", "llama"):
        raise SystemExit(f"{path}: {model.config.model_type} models are not known here")
    return model.to(device).eval(), tokenizer


def service(
    name: str, model: Any, tokenizer: Any, cache_gib: float, habits: Habits | None = None
) -> Service:
    habits = habits or Habits()
    blocks = int(cache_gib * 2**30 / block_bytes(model.config, model.dtype))
    with torch.inference_mode():
        network = Network(model, blocks)
    texts = Texts(tokenizer)
    told = model.generation_config.eos_token_id
    ends = {texts.end, *(told if isinstance(told, list) else [told])}
    return Service(name, texts, Decoder(network, Pool(blocks), ends, ROUND_TOKENS), habits)


async def serve(service: Service, port: int) -> asyncio.Server:
    return await asyncio.start_server(
        lambda r, w: connection(service, r, w), "127.0.0.1", port, limit=1 << 20, backlog=4096
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--name", default="", help="the file's or folder's, where not given")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--cache-gib", type=float, default=1.0, help="for keys and values")
    parser.add_argument("--most-tokens", type=int, default=0, help="in an answer, whoever asks")
    parser.add_argument("--temperature", type=float, default=1.0, help="where none is asked for")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begun = time.monotonic()
    model, tokenizer = load(given.model, given.device)
    habits = Habits(given.temperature, given.most_tokens, given.seed)
    name = given.name or given.model.stem
    ready = service(name, model, tokenizer, given.cache_gib, habits)

    async def forever() -> None:
        server = await serve(ready, given.port)
        print(
            f"{ready.name} on port {given.port}, after {time.monotonic() - begun:.0f} s", flush=True
        )
        await server.serve_forever()

    asyncio.run(forever())


if __name__ == "__main__":
    main()
