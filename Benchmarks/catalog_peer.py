#!/usr/bin/env python3
"""What one would write with Python's own sqlite3 for the same work: FTS5 as it comes, the best matches by bm25.

    catalog_peer.py take-in MODELS.ndjson DATABASE [LIMIT]
    catalog_peer.py search DATABASE QUERY...
"""

import json
import os
import sqlite3
import sys
import time


def take_in(source, path, limit):
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path)
    database.executescript(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
        "CREATE TABLE models (model INTEGER PRIMARY KEY, id TEXT UNIQUE, downloads INTEGER, entry TEXT);"
        "CREATE VIRTUAL TABLE search USING fts5 (id, author, tags, task);"
    )
    with open(source) as lines:
        entries = [line for _, line in zip(range(limit), lines)]
    began = time.monotonic()
    for first in range(0, len(entries), 1000):
        models, words = [], []
        for number, line in enumerate(entries[first : first + 1000], first + 1):
            entry = json.loads(line)
            models.append((number, entry["id"], entry.get("downloads"), line))
            words.append(
                (number, entry["id"], entry.get("author"), " ".join(entry["tags"]), entry.get("pipeline_tag"))
            )
        with database:
            database.executemany("INSERT INTO models VALUES (?, ?, ?, ?)", models)
            database.executemany("INSERT INTO search (rowid, id, author, tags, task) VALUES (?, ?, ?, ?, ?)", words)
    seconds = time.monotonic() - began
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    print(
        json.dumps(
            {
                "models": len(entries),
                "seconds": seconds,
                "models_per_second": len(entries) / seconds,
                "bytes_per_model": os.path.getsize(path) / len(entries),
            }
        )
    )


def search(path, queries):
    database = sqlite3.connect(path)
    times = []
    for query in queries:
        words = "".join(c if c.isalnum() else " " for c in query).split()
        match = " AND ".join(f'"{word}"*' for word in words)
        for _ in range(3):
            began = time.monotonic()
            if match:
                rows = database.execute(
                    "SELECT entry FROM search JOIN models ON model = search.rowid WHERE search MATCH ?"
                    " ORDER BY rank LIMIT 20",
                    (match,),
                )
            else:
                rows = database.execute("SELECT entry FROM models ORDER BY downloads DESC LIMIT 20")
            rows.fetchall()
            times.append((time.monotonic() - began) * 1000)
    times.sort()
    print(json.dumps({"median_ms": times[len(times) // 2], "p95_ms": times[len(times) * 95 // 100]}))


if __name__ == "__main__":
    if sys.argv[1] == "take-in":
        take_in(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else sys.maxsize)
    else:
        search(sys.argv[2], sys.argv[3:])
