"""What Linux tells of a process: CPU time, memory, open files. Reads /proc and nothing else."""

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of one process, at one moment."""

    cpu_seconds: float
    resident_bytes: int
    open_files: int


def figures(pid: int) -> Figures:
    """Of a process that runs, its children not included."""
    # The name in parentheses may hold blanks; the fields after it do not.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Figures(
        cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS,
        resident_bytes=resident_bytes(pid),
        open_files=sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
    )


def resident_bytes(pid: int | str) -> int:
    """Memory that a process holds; `self` is this one."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
