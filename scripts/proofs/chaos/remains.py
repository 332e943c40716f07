"""The state of the cache directory after a server."""

import sqlite3
from contextlib import closing
from pathlib import Path


def unfinished(cache: Path) -> list[str]:
    """Unfinished files, and directories to be removed."""
    return [f"{path.relative_to(cache)} is left" for path in [*cache.glob("entries/**/*.partial"), *cache.glob("tmp/*")]]


def inconsistencies(cache: Path) -> list[str]:
    """Inconsistencies between the index and the files of a directory that no server has open."""
    with closing(sqlite3.connect(f"file:{cache / 'index.sqlite'}?mode=ro", uri=True)) as index:
        (verdict,) = index.execute("PRAGMA integrity_check").fetchone()
        # Entries with content are rows alone.
        select = "SELECT source, entry FROM entry WHERE content IS NULL"
        rows = {bytes(source).hex() + bytes(entry).hex() for source, entry in index.execute(select)}
    files = {path.name for path in cache.glob("entries/*/*") if path.is_file()}
    found = [] if verdict == "ok" else [f"the index is corrupt: {verdict}"]
    found += [f"{len(rows - files)} entries of the index have no file"] if rows - files else []
    return found + ([f"{len(files - rows)} files are not in the index"] if files - rows else [])
