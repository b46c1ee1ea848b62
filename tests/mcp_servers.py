"""MCP servers from npm that others wrote, tried over pipes and HTTP.

    python -m tests.mcp_servers [--folder FOLDER]

Installs the reference servers once, with npm, into FOLDER (by default the project's var/ folder),
and runs the tests of real servers against them. Exit status 0 if all of them pass. Needs npm.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from data.settings import REPOSITORY

PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
)
TESTS = "tests/tools/mcp/test_real_servers.py"


def main() -> int:
    """Install what is missing, then test."""
    parser = argparse.ArgumentParser(description="Try MCP servers that others wrote.")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "var" / "mcp-servers")
    folder: Path = parser.parse_args().folder.resolve()
    if not (folder / "node_modules" / ".bin" / "mcp-server-memory").exists():
        npm = shutil.which("npm")
        if npm is None:
            parser.error("npm is not on the PATH. Install Node.js, which brings it.")
        folder.mkdir(parents=True, exist_ok=True)
        installing = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *PACKAGES]
        if (status := subprocess.run(installing, check=False).returncode) != 0:
            return status
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", TESTS],
        cwd=REPOSITORY,
        env={**os.environ, "VERBATIM_NPM_MCP": str(folder)},
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
