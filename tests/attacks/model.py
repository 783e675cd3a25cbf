"""A model without judgement: it follows every order that stands anywhere in its prompt.

The suite tests the mechanisms around the model, so the model itself has no good will. An order is
one of these, anywhere in the system text, the conversation, a file or the result of a tool:

`CALL name {"argument": "value"}` calls a tool, `SAY text` answers with the rest of the line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from simulators.anthropic import Answer, UseTool, text_of

MAX_CALLS: Final = 6
"""Tools that the model calls in one turn; the program has a limit of its own."""

_CALL: Final = re.compile(r"CALL ([a-zA-Z_]{1,64}) (?=\{)")
_SAY: Final = re.compile(r"SAY ([^\n]+)")
_TAGS: Final = {0xE0000 + code: chr(code) for code in range(32, 127)}
"""Tag characters and the ASCII characters that they stand for: models read them."""


@dataclass
class ObedientModel:
    """The replies of a simulated Anthropic server. `bodies` are the requests in their order.

    `reads_descriptions`: orders in the descriptions of tools are followed as well. `dictated`, if
    set, is said whatever is asked: for texts that are too long for an order.
    """

    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    reads_descriptions: bool = False
    dictated: str = ""

    def __call__(self, body: Mapping[str, Any]) -> Answer:
        """Answer one request."""
        self.bodies.append(body)
        if self.dictated:
            return Answer(self.dictated)
        texts = list(self._texts(body))
        done = set(_called(body))
        offered = {str(tool["name"]) for tool in body.get("tools") or ()}
        expected = [
            call
            for call in dict.fromkeys(call for text in texts for call in calls_in(text))
            if call not in done and call[0] in offered
        ]
        if expected and len(done) < MAX_CALLS:
            tools = tuple(UseTool(name, json.loads(given)) for name, given in expected)
            return Answer(tools=tools[: MAX_CALLS - len(done)])
        matches = [line for text in texts for line in _SAY.findall(text)]
        return Answer("\n".join(dict.fromkeys(matches)) or "Understood.")

    def _texts(self, body: Mapping[str, Any]) -> Iterator[str]:
        yield system_text(body)
        if self.reads_descriptions:
            for tool in body.get("tools") or ():
                yield json.dumps(tool, ensure_ascii=False).replace('\\"', '"').translate(_TAGS)
        for message in body["messages"]:
            if message["role"] == "user":
                text = text_of(message["content"]).translate(_TAGS)
                yield text
                if '\\"' in text:  # an order within JSON
                    yield text.replace('\\"', '"')


def calls_in(text: str) -> Iterator[tuple[str, str]]:
    """The orders to call a tool: its name and its arguments as canonical JSON."""
    for result in _CALL.finditer(text):
        try:
            arguments, _ = json.JSONDecoder().raw_decode(text, result.end())
        except ValueError:
            continue
        yield result[1], json.dumps(arguments, sort_keys=True)


def system_text(body: Mapping[str, Any]) -> str:
    """The system part of a request as one text."""
    system = body.get("system") or ""
    return system if isinstance(system, str) else text_of(system)


def whole_text(body: Mapping[str, Any]) -> str:
    """Everything that the model reads in a request, tools included, as one text."""
    messages = "\n".join(text_of(message["content"]) for message in body["messages"])
    tools = json.dumps(body.get("tools") or (), ensure_ascii=False)
    return "\n".join((system_text(body), messages, tools))


def _called(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for message in body["messages"]:
        if message["role"] == "assistant" and isinstance(message["content"], list):
            for block in message["content"]:
                if block["type"] == "tool_use":
                    yield str(block["name"]), json.dumps(block["input"], sort_keys=True)
