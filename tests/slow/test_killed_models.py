"""A model at work when the process that waits for it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_models import heavy
from working import wait


def ticks(process: int) -> int:
    """What it has taken of a processor, in hundredths of a second."""
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11])


def test_a_model_at_work_ends_with_the_worker_that_is_killed(tmp_path):
    """Cancelling a look at it kills a worker that waits for an answer."""
    pytest.importorskip("onnxruntime")
    model = tmp_path / "model.onnx"
    model.write_bytes(heavy(3000))
    program = (
        "import numpy as np; from ranking.features.onnx.running import Network; from pathlib import Path\n"
        f"network = Network(Path({str(model)!r}))\n"
        "print(network.program.pid, flush=True)\n"
        "network.ask(np.zeros((1, 3, 512, 512), np.float32), 'features')"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as waiting:
        child = int(waiting.stdout.readline())
        began = ticks(child)
        wait(lambda: ticks(child) > began + 50)  # it is at work
        waiting.kill()
    try:
        wait(lambda: not Path(f"/proc/{child}").exists())
    finally:
        if Path(f"/proc/{child}").exists():
            os.kill(child, signal.SIGKILL)
