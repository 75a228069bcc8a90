"""Domains that do not do well: each is tried by its path."""

import os
import time

from metamem.domains.toy import ToyDomain


class Dying(ToyDomain):
    def world(self, task, seed):
        os.write(2, b"famous last words\n")
        os._exit(3)


class Hanging(ToyDomain):
    def world(self, task, seed):
        time.sleep(600)


class Failing(ToyDomain):
    def world(self, task, seed):
        raise RuntimeError("no world today")


class Chatty(ToyDomain):
    """Says things on stdout."""

    def world(self, task, seed):
        print("hello from a native library")
        return super().world(task, seed)


class Wanting(ToyDomain):
    def __init__(self):
        from metamem.core.errors import UsageError

        raise UsageError("which one?", hint="name it with --data")
