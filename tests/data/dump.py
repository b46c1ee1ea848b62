"""Writes a database as the SQL that makes it anew, readable and in a fixed order.

    python -m tests.data.dump var/verbatim.db > tests/data/databases/NNNN.sql

Indexes for full text come from their triggers, so that no line of theirs stands in the dump. The
databases in that directory stand for those that are out there, one a schema; whoever adds a
migration adds the schema before it there, with a row in every table.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path


def dump(connection: sqlite3.Connection) -> Iterator[str]:
    """The lines of the script, each without its end."""
    version, application = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("user_version", "application_id")
    )
    yield f"-- A database as schema {version:04} left it, with a row of every kind. Never change"
    yield "-- it: it stands for the databases that are out there. Migrations are tried on it."
    yield "BEGIN TRANSACTION;"
    yield f"PRAGMA application_id = {application:#x};"
    kinds = {row[1]: row[2] for row in connection.execute("PRAGMA table_list")}
    made = [
        (kind, name, sql)
        for kind, name, sql in connection.execute(
            "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        )
        if kinds.get(name) != "shadow" and not name.startswith("sqlite_")
    ]
    yield from (f"{sql};" for _, _, sql in made)
    for kind, name, _ in made:
        if kind == "table" and kinds[name] == "table":
            yield from _rows(connection, name)
    yield f"PRAGMA user_version = {version};"
    yield "COMMIT;"


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    values = " || ', ' || ".join(f'quote("{column}")' for column in columns)
    for (row,) in connection.execute(f'SELECT {values} FROM "{table}" ORDER BY 1'):
        yield f"INSERT INTO {table} VALUES ({row});"


if __name__ == "__main__":
    with closing(sqlite3.connect(f"{Path(sys.argv[1]).as_uri()}?mode=ro", uri=True)) as opened:
        sys.stdout.writelines(f"{line}\n" for line in dump(opened))
