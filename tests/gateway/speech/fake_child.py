"""A process in the place of the one that recognises speech: it does what the recording says."""

import json
import os
import struct
import sys
import time


def main() -> None:
    write(json.dumps({"ready": True}))
    while len(length := sys.stdin.buffer.read(4)) == 4:
        head = json.loads(sys.stdin.buffer.read(struct.unpack(">I", length)[0]))
        data = sys.stdin.buffer.read(head["size"])
        order = data.partition(b"\n")[2].decode()
        if order == "die":
            os._exit(1)
        if order == "hang":
            time.sleep(60)
        if order.startswith("wait"):
            time.sleep(0.2)
        answer = {"text": order, "language": "en", "seconds": head["most_seconds"]}
        if order == "long":
            answer = {"problem": "too_long"}
        if order == "environment":
            answer["text"] = " ".join(sorted(os.environ))
        write("nonsense" if order == "nonsense" else json.dumps(answer))


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
