"""The command line: one file a command group, thin over the Python API."""

import os

# Before numpy loads, which many commands need and a server holds for long: its matrices are small
# here, and a thread for each core costs more than it gives.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

INTERRUPTED = 130  # as shells have it for a program that Ctrl-C ended
