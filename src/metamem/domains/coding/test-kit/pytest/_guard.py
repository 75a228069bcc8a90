"""Runs target tests for a score. The code under test is hostile until proven otherwise.

Three kinds of process: the host (outside the jail), this parent, and a child for each test file.
The parent reads the plan and all test files, and compiles them, before any project code runs; it
runs none itself. A test has passed only if its child sends the secret of that test.

In the child, project code runs in threads whose stacks hold nothing but the test. The main thread
only draws on one chain of iterators, built before any project code ran, which starts a test, waits
for it, and sends its secret if it returned. That chain is C all through: no frame, variable or
attribute leads to it, so not even a finaliser that happens to run on the main thread finds a
secret. The ways around (lists of the collector, native code, tracing) end the process, and there
is no /proc.

The host runs this text with a namespace and built-ins of its own, so that it is no module.
"""
# ruff: noqa: PTH123 (pathlib costs more to import than most tests to run)

import builtins
import json
import os
import sys
from _thread import allocate_lock, start_new_thread
from collections import deque
from functools import partial
from itertools import chain, compress, islice, repeat
from operator import call
from os import _exit as leave
from os import write
from resource import RLIMIT_CPU, setrlimit
from select import select
from signal import SIG_IGN, SIGINT, SIGKILL, signal
from types import CodeType, FunctionType, ModuleType

PR_SET_DUMPABLE = 4
MOST_HEARD = 1 << 20
PRISTINE = dict(vars(builtins))

# What runs in the threads of project code, and what watches them: no names there to replace.
APART = """
def loading(load):
    def attempt():
        try:
            load()
        except:
            return None
        return True
    return attempt

def passing(test, untouched):
    def attempt():
        try:
            test()
        except:
            return None
        return untouched()
    return attempt

def calling(name, collect, codes, function_type, kinds):
    tuple, list, str, len, type = kinds
    def test():
        items, calls = collect(), ()
        for item in items if type(items) is list else ():
            label, function, run = item if type(item) is tuple and len(item) == 3 else (0, 0, 0)
            if type(label) is str and (label == name or label.partition("[")[0] == name):
                known = False
                for code in codes:
                    if type(function) is function_type and function.__code__ is code:
                        known = True
                calls += (run,) if known else (None,)
        calls[0]
        for run in calls:
            run()
    return test

def keeping(parts, namespace, own_builtins, pristine):
    def untouched():
        for holder, key, value, code in parts:
            if holder.get(key) is not value or (code is not None and value.__code__ is not code):
                return None
            if code is not None and key in namespace and namespace[key] is not value:
                return None
        for key, value in pristine:
            if own_builtins.get(key) is not value:
                return None
        return True
    return untouched

def watching(leave):
    def watch(event, given):
        if event in {
            "gc.get_objects", "gc.get_referrers", "gc.get_referents",
            "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile",
            "sys.monitoring.register_callback", "cpython._PySys_ClearAuditHooks",
            "sys.addaudithook",  # it would be told of the calls that the main thread makes
        } or event.startswith("ctypes.") or (event == "import" and given[0] in {
            "ctypes", "_ctypes", "_xxsubinterpreters", "_interpreters", "_testcapi",
            "_testinternalcapi",
        }):
            leave(77)
    return watch
"""


def main():
    plan = json.loads(sys.stdin.buffer.read())
    close_memory()
    kit = load_kit(plan["kit"])
    compiled = {path: read_tests(path, kit) for path in plan["files"]}
    answers = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silence, descriptor)
    say(answers, plan["nonce"], "ready")
    for path, names in plan["files"].items():
        passed = run_file(path, names, compiled[path], kit, plan["cpu"], answers)
        say(answers, plan["nonce"], [path, passed])
    say(answers, plan["nonce"], "finished")


def say(answers, nonce, message):
    answers.write(f"{nonce}{json.dumps(message)}\n")
    answers.flush()


def close_memory():
    """No other process may read this one's memory or descriptors, nor those of its children."""
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    for name in [n for n in sys.modules if n.partition(".")[0] in ("ctypes", "_ctypes")]:
        sys.modules.pop(name).__dict__.clear()  # project code would find it otherwise


def load_kit(folder):
    """The test kit, with built-ins that are not those that project code can replace."""
    for name, file in (("pytest", "__init__"), ("pytest._collect", "_collect")):
        module = ModuleType(name)
        module.__path__ = [f"{folder}/pytest"]
        module.__dict__["__builtins__"] = dict(PRISTINE)
        sys.modules[name] = module
        path = f"{folder}/pytest/{file}.py"
        with open(path, encoding="utf-8") as source:
            exec(compile(source.read(), path, "exec"), module.__dict__)
    return module


def read_tests(path, kit):
    """The code of a test file and the names of its plain tests, or None where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return kit.compile_tests(file.read(), path)
    except (OSError, SyntaxError, ValueError):
        return None


def run_file(path, names, compiled, kit, cpu, answers):
    """The names of the tests that passed. A child that dies has passed nothing more."""
    if compiled is None:
        return []
    tokens = {name: os.urandom(24) for name in names}
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os.close(answers.fileno())
            setrlimit(RLIMIT_CPU, (cpu, cpu + 1))
            # No name holds the chain: it lies on the interpreter's own stack alone.
            deque(chain_of_tests(path, tokens, compiled, kit, writing), maxlen=0)
            leave(0)
        finally:
            leave(1)
    os.close(writing)
    heard = listen(child, reading)
    os.close(reading)
    return [name for name, token in tokens.items() if token in heard]


def listen(child, reading):
    """What a child sends until it ends. One that sends without end is ended."""
    heard, ended, open_ends = b"", os.pidfd_open(child), [reading]
    while True:
        ready = select([*open_ends, ended], [], [])[0]
        if reading in ready:
            data = os.read(reading, 1 << 16)
            heard += data
            if not data:
                open_ends = []
            if len(heard) > MOST_HEARD:
                os.kill(child, SIGKILL)
                open_ends = []
        elif ended in ready:  # by then nothing of its own is left in the pipe
            break
    os.waitpid(child, 0)
    os.close(ended)
    return heard


def chain_of_tests(path, tokens, compiled, kit, writing):
    """An iterator that runs one test after the other and sends the secrets of those that pass.

    Afterwards nothing else in this process holds the secrets: `tokens` is empty.
    """
    code, plain = compiled
    apart = {"__builtins__": {}}
    exec(APART, apart)
    signal(SIGINT, SIG_IGN)  # else a thread could interrupt this one
    sys.modules["__main__"] = ModuleType("__main__")
    sys.path += kit.import_paths(path)
    module = kit.new_module(path)
    sys.modules[module.__name__] = module
    namespace = module.__dict__
    own_builtins = namespace["__builtins__"] = dict(PRISTINE)
    parts = tuple(parts_of(sys.modules["pytest"]))
    untouched = apart["keeping"](parts, namespace, own_builtins, tuple(PRISTINE.items()))
    functions = {c.co_name: c for c in code.co_consts if is_code(c)}
    collect = partial(kit.collect, namespace)
    codes, kinds = tuple(all_codes(code)), (tuple, list, str, len, type)

    load, loaded = thread(apart["loading"](partial(exec, code, namespace)))
    # `next` finds nothing where loading failed, which ends the whole chain.
    program = [*load, partial(next, filter(None, iter(loaded.popleft, None)))]
    for name in tokens:
        if name in plain:
            test = FunctionType(functions[name], namespace)  # whatever became of the original
        else:
            test = apart["calling"](name, collect, codes, FunctionType, kinds)
        start, outcome = thread(apart["passing"](test, untouched))
        program += [*start, outcome.popleft]
    sys.addaudithook(apart["watching"](leave))
    outcomes = islice(map(call, iter(program)), 2, None, 3)
    secrets = chain((b"",), tuple(tokens.values()))
    tokens.clear()
    return map(write, repeat(writing), compress(secrets, outcomes))


def thread(function):
    """Two calls that run a function on a stack of its own and wait; and where its value will be."""
    values, done = deque(), allocate_lock()
    done.acquire()
    steps = map(call, (function, done.release))
    return (partial(start_new_thread, values.extend, (steps,)), done.acquire), values


def is_code(value):
    return type(value) is CodeType


def all_codes(code):
    found = [code]
    for constant in code.co_consts:
        if is_code(constant):
            found += all_codes(constant)
    return found


def parts_of(module):
    """What a test trusts in the kit: every function with its code, in the module and its classes."""
    parts = []
    for holder in [vars(module)] + [vars(v) for v in vars(module).values() if type(v) is type]:
        for key, value in list(holder.items()):
            code = value.__code__ if type(value) is FunctionType else None
            if code is not None or type(value) is type:
                parts.append((holder, key, value, code))
    return parts


main()
