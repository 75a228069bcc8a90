"""What `metamem record` does, without the rest of the command line, which takes long to load."""

import sys
from pathlib import Path

from metamem.service.recording.piping import Watcher, carried
from metamem.service.recording.recorder import Recorder

if __name__ == "__main__":
    recorder = Recorder({"folder": str(Path.cwd())})
    watcher = Watcher(recorder.seen, recorder.missed)
    code = carried(sys.argv[1:], watcher)
    watcher.end()
    recorder.end(1.0)
    sys.exit(code)
