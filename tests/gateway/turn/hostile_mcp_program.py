"""A hostile MCP server over standard input and output: the argument says what it does in a call of
`page`. `plain` answers as usual."""

import json
import sys
import time
from typing import Any

MB = 1 << 20
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("page", "plain")]


LOG = (
    "Server running on stdio\n[MCP] list_tools requested\n\n"
    '{"level":"info","msg":"client initialized"}\n["one","two"]\n"words"\n42\nnull\n'
)
"""Lines that real servers write to standard output, where only messages belong."""


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(number: object, result: object) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}) + "\n")


def attack(kind: str, number: object) -> None:  # noqa: C901 - a case for each kind
    begin = f'{{"jsonrpc":"2.0","id":{number},"result":{{"content":[{{"type":"text","text":"'
    if kind == "long":
        say(begin + "a" * (20 * MB) + '"}]}}\n')
    elif kind == "endless":
        say(begin)
        while True:
            say("a" * MB)
    elif kind == "messages":
        while True:
            say('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n' * 500)
    elif kind == "requests":
        for index in range(2_000):
            say(json.dumps({"jsonrpc": "2.0", "id": f"s{index}", "method": "ping"}) + "\n")
        answer(number, {"content": [{"type": "text", "text": "after"}]})
    elif kind == "stderr":
        for _ in range(3_000):
            sys.stderr.write("e" * 900 + "\n")
        sys.stderr.flush()
        answer(number, {"content": [{"type": "text", "text": "after"}]})
    elif kind == "garbage":
        sys.stdout.buffer.write(b"\xff\xfe not json \x00\n" * 50)
        sys.stdout.flush()
        answer(number, {"content": [{"type": "text", "text": "after"}]})
    elif kind == "broken":
        say('{"jsonrpc":"2.0","id":' + str(number) + ',"result":{"content":[\n')
    elif kind == "log":
        say(LOG)
        answer(number, {"content": [{"type": "text", "text": "after"}]})
    elif kind == "quotes":
        say(f'DEBUG: received {{"jsonrpc":"2.0","id":{number},"method":"tools/call"}}\n')
        answer(number, {"content": [{"type": "text", "text": "after"}]})
    elif kind == "mark":
        say("\ufeff")
        answer(number, {"content": [{"type": "text", "text": "after"}]})
    elif kind == "drip":
        say(begin)
        for _ in range(200):
            say("a")
            time.sleep(0.01)
        say('"}]}}\n')


def main(kind: str) -> None:
    if kind == "log":
        say(LOG)
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        number, method = message.get("id"), message.get("method")
        if number is None or method is None:
            continue
        if method == "initialize":
            version, server = "2025-06-18", {"name": "hostile", "version": "1"}
            capabilities: dict[str, object] = {"tools": {}}
            answer(
                number,
                {
                    "protocolVersion": version,
                    "capabilities": capabilities,
                    "serverInfo": server,
                },
            )
        elif method == "tools/list":
            answer(number, {"tools": TOOLS})
        elif method == "tools/call" and message["params"]["name"] == "page":
            attack(kind, number)
        elif method == "tools/call":
            answer(number, {"content": [{"type": "text", "text": "fine"}]})
        else:
            error = {"code": -32601, "message": "no such method"}
            say(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
