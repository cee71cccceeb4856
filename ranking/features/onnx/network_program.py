"""A program of its own that runs an ONNX model from a stranger (`ranking.files.isolated.Program`).

`python -m ranking.features.onnx.network_program MODEL THREADS MEMORY SECONDS` reads questions from standard input until
that ends: a line of JSON {"shape", "type", "output"} and the numbers of one input. It answers with a line of JSON
{"shape"} and the numbers of that output as float32; first of all, with the description of the model: its inputs,
outputs and metadata. It exits with 1 and a sentence on standard error where the model cannot be run. Once it has read
the file of the model it cannot open another one: tensors may name files in which their numbers lie.
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
STREAMS = (0, 1, 2, 3)  # the only files that stay open: questions, what is printed (twice), answers
MOST_ENTRIES, LONGEST_KEY, LONGEST_VALUE = 50, 100, 1_000  # of the metadata that is passed on
# How onnxruntime complains of numbers in other files: of the path, of none to begin with, or that it cannot open one.
OUTSIDE = re.compile(r"external data|model_path|SystemError : 24\b", re.IGNORECASE)


def session_of(path: str, threads: int) -> Any:
    """The model, to be run by the processor alone, and without an arena: memory that is free is given back. No file can
    be opened any more."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else it records its use, and sends the records to its maker
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
    """The output that is asked for, as float32."""
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
    """The inputs and outputs of a model, each with its name, type and shape, and its metadata as far as it is short."""
    metadata = session.get_modelmeta().custom_metadata_map.items()
    short = [entry for entry in metadata if len(entry[0]) <= LONGEST_KEY and len(entry[1]) <= LONGEST_VALUE]
    return {
        "inputs": [[port.name, port.type, port.shape] for port in session.get_inputs()],
        "outputs": [[port.name, port.type, port.shape] for port in session.get_outputs()],
        "metadata": dict(short[:MOST_ENTRIES]),
    }


def main(path: str, threads: int) -> None:
    """Answer until there are no more questions."""
    stream = sys.stdin.buffer
    out = os.fdopen(os.dup(1), "wb", closefd=False)  # open to the end, after which nothing more is read
    os.dup2(2, 1)  # what the runtime prints is no answer
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
    limit(resource.RLIMIT_FSIZE, 100_000)  # for what it says of itself
    limit(resource.RLIMIT_CORE, 0)
    try:
        main(sys.argv[1], threads_)
    except MemoryError:
        sys.exit("it needs more memory than it may have")
    except Exception as error:  # the runtime may say no in any way
        if OUTSIDE.search(str(error)):
            sys.exit(
                "its numbers lie in other files (external data), which are never opened; save it as one file"
            )
        sys.exit(" ".join(str(error).split())[:500] or type(error).__name__)
