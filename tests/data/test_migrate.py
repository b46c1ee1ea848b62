"""Migrating: from nothing, from every schema that was ever released, and not at all."""

import re
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from data.errors import StoreError
from data.migrate import MIGRATIONS, Migration, find_migrations, migrate
from data.store import open_store
from prompt.verbatim import Verdict

DATABASES = Path(__file__).parent / "databases"
NEWEST = len(find_migrations(MIGRATIONS))


def build(path: Path, sql: Path, *, version: int | None = None) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql.read_text(encoding="utf-8"))
        if version is not None:
            connection.execute(f"PRAGMA user_version = {version}")


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def facts_in(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM facts")]


def schema(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A copy of the real migrations, for more to be added."""
    return shutil.copytree(MIGRATIONS, tmp_path / "migrations")


def add(directory: Path, number: int, statements: str, *, end: str | None = None) -> None:
    end = end or f"PRAGMA user_version = {number};\nCOMMIT;"
    (directory / f"{number:04}_added.sql").write_text(f"BEGIN IMMEDIATE;\n{statements}\n{end}\n")


@pytest.mark.parametrize("migration", find_migrations(MIGRATIONS), ids=lambda m: m.path.name)
def test_each_file_gives_its_reason_and_is_one_transaction(migration: Migration):
    sql = migration.path.read_text(encoding="utf-8")
    assert sql.startswith(f"-- {migration.number:04}: ")
    assert "\n-- Reason: " in sql
    statements = [part.strip() for part in re.sub(r"--.*", "", sql).split(";") if part.strip()]
    assert statements[0] == "BEGIN IMMEDIATE"
    assert statements[-2:] == [f"PRAGMA user_version = {migration.number}", "COMMIT"]


def test_from_nothing_to_the_newest_schema(path: Path):
    migrate(path)
    assert version_of(path) == NEWEST
    assert not (path.parent / "backups").exists()
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("PRAGMA table_list").fetchall()
        own = [row for row in tables if row[2] == "table" and not row[1].startswith("sqlite_")]
        assert len(own) > 10
        assert all(row[5] for row in own), "not STRICT"


def test_a_second_run_changes_nothing(path: Path):
    migrate(path)
    before = path.read_bytes()
    migrate(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("sql", sorted(DATABASES.glob("*.sql")), ids=lambda sql: sql.name)
def test_a_released_schema_is_what_its_migrations_make(path: Path, sql: Path, directory: Path):
    number = int(sql.stem)
    for migration in find_migrations(MIGRATIONS)[number:]:
        (directory / migration.path.name).unlink()
    migrate(path, directory=directory)
    released = path.with_name("released.db")
    build(released, sql)
    assert schema(path) == schema(released)
    assert version_of(released) == number


async def test_a_guilds_one_endpoint_becomes_the_first_of_several(path: Path, tmp_path: Path):
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    for migration in find_migrations(MIGRATIONS)[:3]:
        shutil.copy(migration.path, earlier)
    migrate(path, directory=earlier)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "INSERT INTO endpoints VALUES"
            " (7, 'guild:7:a', 'https://llm.example/v1', 'm', 'sealed', 0, 5,"
            " '2026-05-04T03:02:01Z')"
        )
        connection.execute("INSERT INTO verdicts VALUES ('guild:7:a', 'm', 1, 0, 'seen', '{}')")
        connection.commit()
    async with open_store(path.parent) as store:
        (kept,) = await store.endpoints.all(7)
        assert (kept.id, kept.base_url, kept.sealed_key) == (
            "guild:7:a",
            "https://llm.example/v1",
            "sealed",
        )
        known = await store.verdicts.get(kept.id, kept.model)
        assert known == Verdict(structured_calls=True, reason="seen")


def test_an_existing_database_is_copied_before_it_changes(path: Path, directory: Path):
    build(path, DATABASES / "0001.sql", version=NEWEST)
    # Committed, but not in the main file: the copy must hold it all the same.
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO facts VALUES (8, 10, 30, 'in the log', 'x')")
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0

    add(directory, NEWEST + 1, "ALTER TABLE facts ADD COLUMN colour TEXT;")
    migrate(path, directory=directory)
    writer.close()

    assert "colour" in schema(path)["facts"]
    assert version_of(path) == NEWEST + 1
    (copy,) = (path.parent / "backups").iterdir()
    assert version_of(copy) == NEWEST
    assert facts_in(copy) == ["Drinks green tea", "in the log"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("statements", "end", "problem"),
    [
        ("DELETE FROM facts; INSERT INTO nowhere VALUES (1);", None, "no such table: nowhere"),
        ("DELETE FROM facts;", "PRAGMA user_version = 77;", "does not commit"),
        ("DELETE FROM facts; this is no SQL;", None, "syntax error"),
    ],
)
def test_a_failing_migration_changes_nothing_and_names_the_copy(
    path: Path, directory: Path, statements: str, end: str | None, problem: str
):
    build(path, DATABASES / "0001.sql", version=NEWEST)
    add(directory, NEWEST + 1, statements, end=end)
    with pytest.raises(StoreError) as caught:
        migrate(path, directory=directory)
    (copy,) = (path.parent / "backups").iterdir()
    assert problem in caught.value.problem
    assert str(copy) in caught.value.remedy
    assert version_of(path) == NEWEST
    assert facts_in(path) == facts_in(copy) == ["Drinks green tea"]
    migrate(path)


def test_what_succeeded_before_a_failing_migration_stays(path: Path, directory: Path):
    migrate(path)
    add(directory, NEWEST + 1, "ALTER TABLE facts ADD COLUMN colour TEXT;")
    add(directory, NEWEST + 2, "ALTER TABLE facts ADD COLUMN colour TEXT;")
    with pytest.raises(StoreError, match=f"{NEWEST + 2:04}_added.sql failed"):
        migrate(path, directory=directory)
    assert version_of(path) == NEWEST + 1


def test_a_new_database_is_there_whole_or_not_at_all(path: Path, directory: Path):
    add(directory, NEWEST + 1, "this is no SQL;")
    with pytest.raises(StoreError, match=f"{NEWEST + 1:04}_added.sql failed"):
        migrate(path, directory=directory)
    assert sorted(path.parent.iterdir()) == sorted([path, directory])
    assert path.read_bytes() == b""
    migrate(path)
    assert version_of(path) == NEWEST


def test_a_rebuilt_table_keeps_what_refers_to_it(path: Path, directory: Path):
    build(path, DATABASES / "0001.sql", version=NEWEST)
    add(
        directory,
        NEWEST + 1,
        """CREATE TABLE rebuilt AS SELECT * FROM turns;
        DROP TABLE turns;
        ALTER TABLE rebuilt RENAME TO turns;""",
    )
    migrate(path, directory=directory)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (2,)


def test_a_migration_with_the_wrong_number_inside_is_refused(path: Path, directory: Path):
    add(directory, NEWEST + 1, "", end=f"PRAGMA user_version = {NEWEST + 5};\nCOMMIT;")
    with pytest.raises(StoreError, match=f"left the schema at {NEWEST + 5}"):
        migrate(path, directory=directory)


@pytest.mark.parametrize("name", ["0003_gap.sql", "0001_twice.sql", "0000_zero.sql", "two.sql"])
def test_numbering_has_no_gaps_and_no_doubles(path: Path, directory: Path, name: str):
    for migration in find_migrations(directory)[1:]:
        migration.path.unlink()
    (directory / name).write_text("BEGIN IMMEDIATE; COMMIT;")
    with pytest.raises(StoreError, match="Install Verbatim again"):
        migrate(path, directory=directory)
    assert not path.exists()


def newer(path: Path) -> None:
    build(path, DATABASES / "0001.sql", version=NEWEST + 1)


def no_database(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1000)


def short(path: Path) -> None:
    path.write_bytes(b"SQLite")


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE tracks (title); PRAGMA user_version = 1;")


def damaged(path: Path) -> None:
    build(path, DATABASES / "0001.sql")
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xff" * (len(content) - 4096 * 2)
    path.write_bytes(content)


def cut_off(path: Path) -> None:
    build(path, DATABASES / "0001.sql")
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("make", "problem", "remedy"),
    [
        (newer, f"its schema is {NEWEST + 1}, this version knows {NEWEST}", "Update Verbatim"),
        (no_database, "not an SQLite database", "Move it away"),
        (short, "not an SQLite database", "Move it away"),
        (foreign, "another program's database", "Move it away"),
        (damaged, "damaged", "Put back a copy"),
        (cut_off, "damaged", "Put back a copy"),
    ],
)
async def test_a_file_that_is_not_ours_to_change_stays_as_it_is(
    path: Path, make: Callable[[Path], None], problem: str, remedy: str
):
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        async with open_store(path.parent):
            pass
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_an_old_sqlite_is_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreError, match=r"3\.37 or newer"):
        migrate(path)
    assert not path.exists()
