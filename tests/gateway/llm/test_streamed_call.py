"""The HTTP side of a call of a model."""

import json

from gateway.llm.streamed_call import body_json


def test_a_request_is_json_also_with_unpaired_surrogates() -> None:
    assert json.loads(body_json({"a": [1, "ü"]})) == {"a": [1, "ü"]}
    assert json.loads(body_json({"a": ({"b": "x\ud800"},)})) == {"a": [{"b": "x?"}]}
