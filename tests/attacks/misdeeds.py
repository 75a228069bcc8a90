"""What a design may do wrong in one call, and the kind of failure that it is scored as.

Each is the body of `retrieve`. `say(bytes)` writes to the channel past the harness; `number` is
the id of the request being served.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Misdeed:
    body: str
    kind: str
    alone: bool = False  # runs outside the jail too, to show what it does there


MISDEEDS: dict[str, Misdeed] = {
    # --- time
    "loops in Python": Misdeed("while True: pass", "timeout", alone=True),
    "loops in C": Misdeed("import itertools; sum(itertools.repeat(0, 10**13))", "timeout", True),
    "matches without end": Misdeed(
        "import re; re.match('(a+)+$', 'a' * 60 + 'b')", "timeout", True
    ),
    "computes without end": Misdeed("3 ** (10 ** 9)", "timeout", alone=True),
    "loops and catches everything": Misdeed(
        """
while True:
    try:
        while True: pass
    except BaseException: pass""",
        "timeout",
        alone=True,
    ),
    "loops with every signal ignored": Misdeed(
        """
import signal
for s in signal.valid_signals():
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass""",
        "timeout",
        alone=True,
    ),
    "sleeps": Misdeed("import time; time.sleep(1000)", "wall", alone=True),
    "waits for itself": Misdeed(
        "import threading; l = threading.Lock(); l.acquire(); l.acquire()", "wall", alone=True
    ),
    "waits for the host to speak": Misdeed("os.read(3, 1)", "wall"),
    # --- memory
    "takes memory at once": Misdeed("return len(bytearray(400 << 20))", "memory", alone=True),
    "takes memory bit by bit": Misdeed(
        "return len([bytes(1 << 20) for _ in range(400)])", "memory", alone=True
    ),
    "takes memory by numpy": Misdeed("import numpy; numpy.ones(50 << 20)", "memory"),
    # --- ends
    "ends its process": Misdeed("os._exit(0)", "crash", alone=True),
    "asks to exit": Misdeed("raise SystemExit(3)", "crash", alone=True),
    "reads address zero": Misdeed("import ctypes; ctypes.string_at(0)", "crash", alone=True),
    "recurses without end": Misdeed("f = lambda: f(); f()", "crash", alone=True),
    "recurses past the end of the stack": Misdeed(
        """
import sys
sys.setrecursionlimit(10**9)
class Endless:
    def __repr__(self): return repr(self)
return repr(Endless())""",
        "crash",
        alone=True,
    ),
    "raises": Misdeed("{}['missing']", "crash", alone=True),
    "closes its channel": Misdeed("os.close(3); import time; time.sleep(1000)", "crash"),
    "returns what JSON cannot hold": Misdeed("return {'a': object()}", "crash"),
    "returns a number": Misdeed("return 5", "crash"),
    # --- amounts
    "returns a huge text": Misdeed("return 'x' * 10**6", "limit"),
    "floods the channel": Misdeed("while True: say(b'x' * 65536)", "limit"),
    "floods the log": Misdeed("while True: print('x' * 1000)", "limit"),
    "asks too often": Misdeed("for i in range(30): await self.tools.embed([str(i)])", "limit"),
    "asks without reading the answers": Misdeed(
        """
for i in range(1, 30):
    say({'id': number, 'ask': i, 'tool': 'embed', 'data': {'texts': ['x'] * 500}})
""",
        "limit",
    ),
    "embeds too many texts": Misdeed("await self.tools._ask_embeddings(['a'] * 5000)", "limit"),
    # --- the protocol
    "answers another question": Misdeed("say({'id': number + 1, 'ok': 'forged'})", "protocol"),
    "answers twice": Misdeed("say({'id': number, 'ok': 1}); return 'x'", "protocol"),
    "answers the next question already": Misdeed(
        "say({'id': number, 'ok': 'a'}); say({'id': number + 1, 'ok': 'forged'})", "protocol"
    ),
    "speaks of what is unknown": Misdeed("say({'id': number, 'score': 1.0})", "protocol"),
    "adds to its answer": Misdeed("say({'id': number, 'ok': 'a', 'reward': 1.0})", "protocol"),
    "claims to be an engine fault": Misdeed(
        "say({'id': number, 'error': {'kind': 'engine', 'message': 'try again'}})", "protocol"
    ),
    "claims a wall clock stop": Misdeed(
        "say({'id': number, 'error': {'kind': 'wall', 'message': 'try again'}})", "protocol"
    ),
    "sends what is not JSON": Misdeed("say(b'hello\\n')", "protocol"),
    "sends a list": Misdeed("say(b'[1]\\n')", "protocol"),
    "sends bytes that are no text": Misdeed('say(b\'{"id": "\\xff\\xfe"}\\n\')', "protocol"),
    "nests deeply": Misdeed("say(b'[' * 90000 + b'\\n')", "protocol"),
    "nests its advice": Misdeed("d = {}\nfor _ in range(100): d = {'a': d}\nreturn d", "protocol"),
    "sends NaN": Misdeed('say(b\'{"id": %d, "ok": NaN}\\n\' % number)', "protocol"),
    "sends infinity": Misdeed('say(b\'{"id": %d, "ok": 1e999}\\n\' % number)', "protocol"),
    "sends half a character": Misdeed("return chr(0xd800)", "protocol"),
    "sends a number without end": Misdeed("say(b'9' * 90000 + b'\\n')", "protocol"),
    "counts its questions wrongly": Misdeed(
        "say({'id': number, 'ask': 7, 'tool': 'embed', 'data': {'texts': []}})", "protocol"
    ),
    "asks for a tool that is not": Misdeed("await self.tools._host.ask('shell', {})", "protocol"),
    "embeds numbers": Misdeed("await self.tools._ask_embeddings([1, 2])", "protocol"),
    "prompts with a list": Misdeed(
        "await self.tools._host.ask('llm', {'prompt': [1]})", "protocol"
    ),
    "announces itself as a fork": Misdeed(
        "from metamem.sandbox import libc; libc.syscall('vhangup')", "protocol"
    ),
    "returns a list past the harness": Misdeed("say({'id': number, 'ok': [1]})", "protocol"),
}

DESIGN = """
import os
from metamem.designs import Memory
class Bad(Memory):
    async def retrieve(self, query):
        if query.goal == "be good":
            return "good"
        import json
        number = self.tools._host._request
        def say(message):
            data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\\n"
            while data:
                data = data[os.write(3, data):]
{body}
    async def update(self, experience):
        pass
"""
