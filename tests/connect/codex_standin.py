"""A stand-in for `codex app-server` that speaks its `hooks/list` as the real one was seen to (synthetic).

Reads `hooks.json` and `config.toml` of CODEX_HOME; trusts a hook whose hash is written there, unless the
environment says that it never does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any


def listed() -> list[dict[str, Any]]:
    """All hooks, with the hash that would be trusted."""
    home = Path(os.environ["HOME"], ".codex")
    trusted = tomllib.loads((home / "config.toml").read_text()).get("hooks", {}).get("state", {})
    found = []
    for event, groups in json.loads((home / "hooks.json").read_text())["hooks"].items():
        for place, group in enumerate(groups):
            key = f"{home / 'hooks.json'}:{event}:{place}:0"
            command = group["hooks"][0]["command"]
            hashed = f"sha256:{hashlib.sha256(command.encode()).hexdigest()}"
            seen = trusted.get(key, {}).get("trusted_hash") == hashed and "CODEX_NEVER_TRUSTS" not in os.environ
            status = "trusted" if seen else "untrusted"
            found.append({"key": key, "command": command, "currentHash": hashed, "trustStatus": status})
    return found


def main() -> None:
    """Answers until the input ends."""
    assert sys.argv[1:] == ["app-server"]
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "initialize":
            print(json.dumps({"id": message["id"], "result": {}}), flush=True)
        if message["method"] == "hooks/list":
            [cwd] = message["params"]["cwds"]
            answer = {"data": [{"cwd": cwd, "hooks": listed(), "warnings": [], "errors": []}]}
            print(json.dumps({"method": "some/notification", "params": {}}), flush=True)
            print(json.dumps({"id": message["id"], "result": answer}), flush=True)


if __name__ == "__main__":
    main()
