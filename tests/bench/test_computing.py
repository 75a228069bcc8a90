"""Processor time of what nobody waits for is counted as well."""

import os
import subprocess
import sys

import pytest
from bench.computing import computing

# Its child computes, and what that used is told to nobody, since nobody is to be told that it ended.
UNHEARD = """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", {computes!r}]).wait()
"""
COMPUTES = "import time\nwhile time.process_time() < 2.0: pass"


def test_what_was_ended_unheard_is_counted():
    before = os.times()
    with computing() as spent:
        subprocess.run([sys.executable, "-c", UNHEARD.format(computes=COMPUTES)], check=True)
    after = os.times()
    if spent.seconds is None:
        pytest.skip("no control group may be made here")
    assert after.children_user - before.children_user < 1.5  # what was waited for says too little
    assert 2.0 <= spent.seconds < 4.0


def test_what_follows_is_not_counted():
    with computing() as spent:
        pass
    subprocess.run([sys.executable, "-c", COMPUTES], check=True)
    with computing() as anew:
        pass
    assert spent.seconds == anew.seconds is None or max(spent.seconds, anew.seconds) < 1.0
