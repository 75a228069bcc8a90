"""Processor time of what nobody waits for is counted as well."""

import os
import subprocess
import sys

from bench.computing import computing

# Its child computes, and what that used is told to nobody, since nobody is to be told that it ended.
UNHEARD = """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", {computes!r}]).wait()
"""
COMPUTES = "import time\nwhile time.process_time() < 4.0: pass"


def test_what_was_ended_unheard_is_counted():
    before = os.times()
    with computing() as spent:
        subprocess.run([sys.executable, "-c", UNHEARD.format(computes=COMPUTES)], check=True)
    after = os.times()
    assert after.children_user - before.children_user < 2.0  # what was waited for says too little
    assert 2.0 < spent.seconds < 8.0


def test_what_was_waited_for_is_counted_once():
    with computing() as spent:
        subprocess.run([sys.executable, "-c", COMPUTES], check=True)
    assert 3.5 < spent.seconds < 7.0
