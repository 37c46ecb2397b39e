#!/usr/bin/env python3
"""Makes docs/hub.svg, the picture in README, from what hub really prints: a search, a pull under way, the list of gc.

    docs/picture.py [HUB]      HUB: the program to show (.build/release/hub)

Needs tmux. Everything happens in a temporary folder: a Hub on the loopback that lists the models of
Tests/Fixtures/hub-metadata, and a cache of models made for the picture, with times of use set back.
"""

import hashlib
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, CELL, LINE = 96, 8.43, 19
END = r"^\$ ?$"  # the prompt, and nothing behind it

# Models in the cache of the picture: name, days since use, size in MB.
CACHED = [
    ("acme/big-1b-instruct", 3, 420), ("acme/big-1b-instruct-gguf", 21, 310), ("acme/embed-small", 34, 90),
    ("acme/rerank-base", 62, 210), ("acme/speech-medium", 128, 380), ("acme/vision-2b", 200, 640),
    ("acme/code-3b", 301, 730),
]


class Hub(http.server.BaseHTTPRequestHandler):
    """The Hub's list of models, and one repository of large files."""

    listing = [json.loads(line) for line in (ROOT / "Tests/Fixtures/hub-metadata/hub-models.ndjson").open()]
    repository = "acme/big-7b-instruct"
    commit = "5" * 40
    files = {f"model-0000{n}-of-00003.safetensors": bytes([n]) * 160_000_000 for n in (1, 2, 3)}
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        terms = urllib.parse.parse_qs(query)
        if path == "/api/models":
            self.answer(json.dumps(self.models(terms)).encode(), Content_Type="application/json")
        elif path.startswith(f"/api/models/{self.repository}/tree/"):
            self.answer(json.dumps(self.tree()).encode(), Content_Type="application/json")
        elif path.startswith(f"/api/models/{self.repository}"):
            self.answer(json.dumps({"id": self.repository, "sha": self.commit, "siblings": []}).encode())
        elif path.startswith(f"/{self.repository}/resolve/") and path.rpartition("/")[2] in self.files:
            self.file(path.rpartition("/")[2])
        else:
            self.answer(b"{}", 404, X_Error_Code="RepoNotFound")

    do_HEAD = do_GET

    def models(self, terms):
        words = " ".join(terms.get("search", [])).lower().split()
        wanted = set(terms.get("pipeline_tag", []) + terms.get("filter", []))
        found = []
        for model in self.listing:
            has = set(model.get("tags", [])) | {model.get("pipeline_tag"), model.get("library_name")}
            if all(word in model["id"].lower() for word in words) and wanted <= has:
                parameters = model.get("_radar", {}).get("parameters")
                found.append(dict(model, **({"safetensors": {"total": parameters}} if parameters else {})))
        return found[: int(terms.get("limit", ["1000"])[0])]

    def tree(self):
        return [
            {"type": "file", "path": name, "size": len(body), "oid": hashlib.sha1(name.encode()).hexdigest(),
             "lfs": {"oid": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 134}}
            for name, body in self.files.items()
        ]

    def file(self, name):
        body = self.files[name]
        head = {"ETag": f'"{hashlib.sha256(body).hexdigest()}"', "X-Repo-Commit": self.commit, "Accept-Ranges": "bytes"}
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not span:
            return self.answer(body, **head)
        first, last = int(span[1]), min(int(span[2] or len(body) - 1), len(body) - 1)
        head["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
        try:
            self.answer(body[first : last + 1], 206, **head)
        except ConnectionError:
            pass


def make_cache(root):
    """A cache as huggingface_hub lays it out, each model one sparse file, used so many days ago."""
    for name, days, megabytes in CACHED:
        folder = root / ("models--" + name.replace("/", "--"))
        commit = hashlib.sha1(name.encode()).hexdigest()
        blob = folder / "blobs" / hashlib.sha256(name.encode()).hexdigest()
        link = folder / "snapshots" / commit / "model.safetensors"
        for made in (blob.parent, link.parent, folder / "refs"):
            made.mkdir(parents=True)
        with blob.open("wb") as file:
            file.truncate(megabytes * 1_000_000)
        link.symlink_to(os.path.relpath(blob, link.parent))
        (folder / "refs" / "main").write_text(commit)
        then = time.time() - days * 86_400
        for path in (blob, folder / "refs" / "main"):
            os.utime(path, (then, then))


class Terminal:
    """A tmux of its own, and what stands on its screen."""

    def __init__(self, folder, environment, height):
        self.socket = str(folder / f"tmux-{height}")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(WIDTH), "-y", str(height), "env", "-i",
                  *[f"{name}={value}" for name, value in environment.items()], "bash", "--norc")
        self.tmux("set", "-g", "status", "off")
        self.tmux("set", "-ga", "terminal-overrides", ",*:RGB")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True, text=True).stdout

    def type(self, text, *keys):
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", *(keys or ["Enter"]))

    def wait(self, pattern, patience=60):
        """The screen with its colours, once the pattern stands on it."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if re.search(pattern, self.tmux("capture-pane", "-p"), re.M):
                return self.tmux("capture-pane", "-p", "-e").rstrip("\n").split("\n")
            time.sleep(0.05)
        sys.exit(f"{pattern!r} never came up:\n" + self.tmux("capture-pane", "-p"))

    def close(self, key="C-c"):
        """Ends what runs, the shell too."""
        self.type("", key)
        self.wait(END)
        self.tmux("kill-server")


COLOURS = ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#c9d1d9"]


def spans(line):
    """(column, text, CSS) of each run of a line with SGR codes."""
    style, column = {}, 0
    for part in re.split(r"(\x1b\[[0-9;]*m|\x1b\(B|\x0f)", line):
        if part.startswith("\x1b["):
            for code in [int(c or 0) for c in part[2:-1].split(";")]:
                if code == 0:
                    style = {}
                elif code in (1, 2, 4, 7):
                    style[{1: "bold", 2: "dim", 4: "underline", 7: "reverse"}[code]] = True
                elif code in (22, 24, 27):
                    for name in {22: ("bold", "dim"), 24: ("underline",), 27: ("reverse",)}[code]:
                        style.pop(name, None)
                elif 30 <= code <= 37 or 90 <= code <= 97:
                    style["colour"] = COLOURS[code % 10]
                elif code == 39:
                    style.pop("colour", None)
        elif part and not part.startswith(("\x1b", "\x0f")):
            yield column, part, dict(style)
            column += len(part)


def draw(lines):
    rows, height = [], (len(lines) + 2) * LINE
    for number, line in enumerate(lines):
        y = (number + 2) * LINE
        for column, text, style in spans(line):
            if not text.strip() and not style.get("reverse"):
                continue
            x, width = 14 + column * CELL, len(text) * CELL
            fill = style.get("colour", "#e6edf3")
            if style.get("reverse"):
                rows.append(f'<rect x="{x:.1f}" y="{y - 14}" width="{width:.1f}" height="{LINE}" fill="{fill}"/>')
                fill = "#0d1117"
            css = f' font-weight="{"bold"}"' if style.get("bold") else ""
            css += ' opacity="0.6"' if style.get("dim") else ""
            rows.append(f'<text x="{x:.1f}" y="{y}" fill="{fill}"{css} textLength="{width:.1f}" '
                        f'xml:space="preserve">{html.escape(text)}</text>')
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * CELL + 28:.0f}" height="{height}" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono, monospace" font-size="14">',
        '<title>hub search, hub pull and hub gc in a terminal</title>',
        '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>', *rows, "</svg>", "",
    ])


def main():
    binary = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/release/hub").resolve()
    if not binary.is_file():
        sys.exit(f"there is no {binary}; scripts/build release makes it")
    if not shutil.which("tmux"):
        sys.exit("docs/picture.py needs tmux (apt-get or brew install tmux)")
    work = pathlib.Path(tempfile.mkdtemp())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.handle_error = lambda *_: None  # connections that an interrupted pull gives up
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (work / "bin").mkdir()
    (work / "bin/hub").symlink_to(binary)
    environment = {
        "PATH": f"{work}/bin:{os.environ['PATH']}", "HOME": str(work), "LANG": "C.UTF-8", "TERM": "tmux-256color",
        "HF_HOME": f"{work}/pulled", "PS1": r"\[\e[1;32m\]$\[\e[0m\] ", "NO_PROXY": "127.0.0.1",
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
    }
    make_cache(work / "huggingface/hub")
    try:
        terminal = Terminal(work, environment, 14)
        terminal.type("clear; hub search qwen --fits=8GB --limit 5")
        lines = terminal_lines("hub search qwen --fits=8GB --limit 5", terminal.wait(END), prompt=True)
        terminal.close()

        terminal = Terminal(work, environment, 12)
        terminal.type("clear; hub pull acme/big-7b-instruct --limit-rate 60MB")
        lines += terminal_lines("hub pull acme/big-7b-instruct", terminal.wait(r"instruct .* (4[0-9]|5[0-9])%"))
        terminal.close()

        environment["HF_HOME"] = f"{work}/huggingface"
        terminal = Terminal(work, environment, 13)
        terminal.type("clear; hub gc")
        terminal.wait("acme/code-3b")
        terminal.type("", "Space", "Down", "Down", "Space")
        lines += terminal_lines("hub gc", terminal.wait(r"2 (rows|marked)|marked"))
        terminal.close("q")
    finally:
        shutil.rmtree(work, ignore_errors=True)  # tmux may be removing its socket
    (ROOT / "docs/hub.svg").write_text(draw(lines))


def terminal_lines(command, screen, prompt=False):
    """A command as it was typed, then what came of it, without the next prompt and empty lines at its end."""
    while screen and not screen[-1].strip():
        screen.pop()
    if prompt:
        screen.pop()
    return [f"\x1b[1;32m$\x1b[0m {command}", *screen, ""]


if __name__ == "__main__":
    main()
