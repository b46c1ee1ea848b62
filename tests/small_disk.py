"""Starts the bot on a disk of its own: python small_disk.py KIND ARGUMENTS...

KIND is a size, such as 900k, or `read-only`. The disk is put over VERBATIM_HOME, in a mount
namespace that ends with the process; whoever has its process id sees it below /proc/PID/root. Read
only is what lay in the directory before. Needs the right to mount.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_SIZED = 'mount -t tmpfs -o "size=$0" none "$VERBATIM_HOME"'
_READ_ONLY = (
    'mount --bind "$VERBATIM_HOME" "$VERBATIM_HOME" '
    '&& mount -o remount,ro,bind "$VERBATIM_HOME" "$VERBATIM_HOME"'
)


def can_mount() -> bool:
    """Whether this machine lets us have disks of our own."""
    if sys.platform != "linux":
        return False
    with TemporaryDirectory() as home:
        try:
            tried = subprocess.run(
                ["unshare", "--mount", "sh", "-c", f"{_SIZED} && {_READ_ONLY}", "64k"],
                env={**os.environ, "VERBATIM_HOME": home},
                capture_output=True,
                check=False,
                timeout=20,
            )
        except OSError:
            return False
        return tried.returncode == 0


def main() -> None:
    """Mount, and become the bot."""
    kind, *arguments = sys.argv[1:]
    mount = _READ_ONLY if kind == "read-only" else _SIZED
    bot = [sys.executable, str(Path(__file__).parents[1] / "bot.py"), *arguments]
    command = ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', kind, *bot]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
