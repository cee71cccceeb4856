"""After set-up, the first training finds every kernel compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FIND_UNCOMPILED = """
import numpy as np
from numba.core import event
from ranking.kernels import compile_kernels
with event.install_recorder("numba:compile") as recorder:
    compile_kernels()
print(len(recorder.buffer))
"""


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "ranking.kernels"], env=environment, check=True)
    again = subprocess.run(
        [sys.executable, "-c", FIND_UNCOMPILED], env=environment, check=True, capture_output=True, text=True
    )
    assert int(again.stdout) == 0
