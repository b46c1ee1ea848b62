"""An MCP server over pipes that misbehaves in the way that its argument names."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main(way: str) -> None:
    """Answer until the input ends, and then leave; or not."""
    if way == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if way == "parent":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        sys.stderr.write(f"child {child.pid}\n")
    if way == "garbage":
        sys.stdout.write("Welcome to my server!\n{not json\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        match message["method"]:
            case "initialize":
                answer["result"] = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "unruly", "version": "1"},
                }
            case "tools/list":
                schema: dict[str, Any] = {"type": "object", "properties": {}}
                answer["result"] = {"tools": [{"name": "echo", "inputSchema": schema}]}
            case "tools/call" if way == "dies":
                os._exit(3)
            case "tools/call" if way == "huge":
                while True:
                    sys.stdout.write("x" * 65_536)
            case "tools/call":
                text = os.environ.get("UNRULY", "") + " " + os.environ.get("NOT_YOURS", "")
                answer["result"] = {"content": [{"type": "text", "text": text}]}
            case _:
                answer["error"] = {"code": -32601, "message": "Method not found"}
        say(answer)
    if way == "deaf":
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])
