"""A program that runs an untrusted ONNX model in an isolated process (`ranking.files.isolated.Program`).

`python -m ranking.features.onnx.network_program MODEL THREADS MEMORY SECONDS` first writes a description of the model:
its inputs, outputs and metadata. Then it reads requests until the end of standard input: a line of JSON {"shape",
"type", "output"} and the numbers of one input. It answers with a line of JSON {"shape"} and the numbers of that output
as float32. It exits with 1 and a sentence on standard error if the model cannot run. After it has read the model file
it cannot open any other file, because tensors may name files that contain their numbers.
"""

from __future__ import annotations

import json
import math
import os
import re
import resource
import sys
from typing import Any

from ranking.files.isolated import end_with_parent, limit

MOST_OUTPUT = 4_000_000  # numbers of one answer
MOST_QUESTION = 64 * 2**20  # bytes of one input
STREAMS = (0, 1, 2, 3)  # the only files that stay open: requests, printed text (twice), answers
MOST_ENTRIES, LONGEST_KEY, LONGEST_VALUE = 50, 100, 1_000  # of the metadata in the description
# Errors of onnxruntime about numbers in other files: about the path, a missing path, or a file that cannot be opened.
OUTSIDE = re.compile(r"external data|model_path|SystemError : 24\b", re.IGNORECASE)


def session_of(path: str, threads: int) -> Any:
    """Return a session that runs the model on the CPU, without an arena, so that free memory is returned. After this,
    the process cannot open any file."""
    os.environ["ORT_DISABLE_TELEMETRY"] = (
        "1"  # otherwise it records its use and sends the records to its vendor
    )
    import numpy  # noqa: F401 (which `answer` imports when it is too late to open its files)
    import onnxruntime

    with open(path, "rb") as file:
        data = file.read()
    limit(resource.RLIMIT_NOFILE, 1 + max(STREAMS))
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.enable_cpu_mem_arena = options.enable_mem_pattern = options.enable_profiling = False
    options.log_severity_level = 4
    options.add_session_config_entry("session.load_model_format", "ONNX")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def answer(session: Any, question: dict[str, Any], data: bytes) -> Any:
    """Return the requested output as float32."""
    import numpy as np

    name = session.get_inputs()[0].name
    given = np.frombuffer(data, question["type"]).reshape(question["shape"])
    [output] = session.run([question["output"]], {name: given})
    if not isinstance(output, np.ndarray) or output.dtype.kind not in "fiub":
        raise ValueError(f"output {question['output']} gives no numbers")
    if output.size > MOST_OUTPUT:
        raise ValueError(
            f"output {question['output']} gives {output.size:,} numbers, expected at most {MOST_OUTPUT:,}"
        )
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(output, np.float32)


def description(session: Any) -> dict[str, Any]:
    """Return the inputs and outputs of a model, each with name, type and shape, and its short metadata."""
    metadata = session.get_modelmeta().custom_metadata_map.items()
    short = [entry for entry in metadata if len(entry[0]) <= LONGEST_KEY and len(entry[1]) <= LONGEST_VALUE]
    return {
        "inputs": [[port.name, port.type, port.shape] for port in session.get_inputs()],
        "outputs": [[port.name, port.type, port.shape] for port in session.get_outputs()],
        "metadata": dict(short[:MOST_ENTRIES]),
    }


def main(path: str, threads: int) -> None:
    """Answer requests until the end of standard input."""
    stream = sys.stdin.buffer
    out = os.fdopen(os.dup(1), "wb", closefd=False)  # open until the process ends
    os.dup2(2, 1)  # so that output of the runtime does not mix with the answers
    session = session_of(path, threads)
    out.write(json.dumps(description(session)).encode() + b"\n")
    out.flush()
    while line := stream.readline():
        question = json.loads(line)
        size = math.prod(question["shape"]) * {"float16": 2, "float32": 4, "float64": 8}[question["type"]]
        if size > MOST_QUESTION:
            raise ValueError(f"an input of {size:,} bytes, expected at most {MOST_QUESTION:,}")
        output = answer(session, question, stream.read(size))
        out.write(json.dumps({"shape": output.shape}).encode() + b"\n" + output.tobytes())
        out.flush()


if __name__ == "__main__":
    threads_, memory, seconds = map(int, sys.argv[2:])
    end_with_parent()
    limit(resource.RLIMIT_AS, memory)
    limit(resource.RLIMIT_CPU, seconds)
    limit(resource.RLIMIT_FSIZE, 100_000)  # for its error messages
    limit(resource.RLIMIT_CORE, 0)
    try:
        main(sys.argv[1], threads_)
    except MemoryError:
        sys.exit("it needs more memory than the limit allows")
    except Exception as error:  # the runtime may raise any error
        if OUTSIDE.search(str(error)):
            sys.exit(
                "its numbers are in other files (external data), which are never opened; save it as one file"
            )
        sys.exit(" ".join(str(error).split())[:500] or type(error).__name__)
