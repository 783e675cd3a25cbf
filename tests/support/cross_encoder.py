"""A cross-encoder small enough to be made on the spot: it counts the tokens that query and text
have in common, and has the files, inputs and output of a published one."""

import json
from pathlib import Path
from typing import Final

import numpy as np

NAME: Final = "ms-marco-MiniLM-L-6-v2"
WORDS: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "green", "coffee", "dog", "rain")


def made_in(models: Path) -> Path:
    """The folder of models with this one in it."""
    folder = models / NAME
    (folder / "onnx").mkdir(parents=True)
    _save_graph(folder / "onnx" / "model.onnx")
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()), "utf-8")
    settings = {"model_max_length": 64, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}), "utf-8")
    tokens = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "special_tokens_map.json").write_text(json.dumps(tokens), "utf-8")
    return models


def _save_graph(path: Path) -> None:
    """logits = sum over the vocabulary of (times in the query) * (times in the text), of words
    only: everything from number 4 on."""
    import onnx  # noqa: PLC0415 - slow to import
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415 - loaded only where it is needed

    names = ("input_ids", "attention_mask", "token_type_ids")
    constants = {
        "depth": np.array(len(WORDS)),
        "off_on": np.array([0, 1], np.float32),
        "wide": np.array([2]),
        "along": np.array([1]),
        "one": np.array(1.0, np.float32),
        "real": np.array([[0.0] * 4 + [1.0] * (len(WORDS) - 4)], np.float32),
    }
    nodes = [
        helper.make_node("OneHot", ["input_ids", "depth", "off_on"], ["hot"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Unsqueeze", ["first", "wide"], ["first_wide"]),
        helper.make_node("Unsqueeze", ["second", "wide"], ["second_wide"]),
        helper.make_node("Mul", ["hot", "first_wide"], ["hot_first"]),
        helper.make_node("Mul", ["hot", "second_wide"], ["hot_second"]),
        helper.make_node("ReduceSum", ["hot_first", "along"], ["in_query"], keepdims=0),
        helper.make_node("ReduceSum", ["hot_second", "along"], ["in_text"], keepdims=0),
        helper.make_node("Mul", ["in_query", "in_text"], ["both"]),
        helper.make_node("Mul", ["both", "real"], ["words"]),
        helper.make_node("ReduceSum", ["words", "along"], ["logits"], keepdims=1),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in names
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    graph = helper.make_graph(
        nodes,
        "overlap",
        inputs,
        [output],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))


def _tokenizer() -> dict[str, object]:
    special = [
        {"id": place, "content": word, "special": True, "single_word": False, "lstrip": False,
         "rstrip": False, "normalized": False}
        for place, word in enumerate(WORDS[:4])
    ]  # fmt: skip
    pair = [("A", 0), ("B", 1)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": name, "type_id": kind}} for name, kind in pair],
            "special_tokens": {},
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate(WORDS)},
            "unk_token": "[UNK]",
        },
    }
