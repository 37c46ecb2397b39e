#!/usr/bin/env python3
"""hubsim: a loopback Hub that speaks the Hugging Face Hub's HTTP protocol.

An independent stand-in for the Hub: it was written from the protocol, apart from
hub's own client and server, and shares no code or author's assumption with them.

It serves folders as model repositories so that a Hub client can be run against
something it did not write. The real `huggingface_hub` client downloads from it
unchanged (HF_ENDPOINT=http://127.0.0.1:PORT). Standard library only.

    hubsim.py --root DIR [--port 0] [--models FILE.ndjson[.gz]] [--token hf_x]
              [--oauth CLIENT_ID] [--interval SECONDS]
              [--latency SECONDS] [--rate BYTES_PER_SECOND_PER_CONNECTION]
              [--total-rate BYTES_PER_SECOND] [--page N] [--cdn URL] [--sndbuf BYTES] [--xet]

DIR/org/name/...            the files of the repository's branch main
DIR/org/name/.sim.json      optional: {"gated": "auto", "private": true,
                            "pipeline_tag": ..., "tags": [...], "library_name":
                            ..., "downloads": N, "likes": N, "lastModified": ...}
DIR/org/name@REV/...        another revision (branch, tag or refs/pr/1 as pr1)

The first line printed is `hubsim http://127.0.0.1:PORT`. A file counts as LFS
when it is 1 MiB or more or has a weights ending; LFS content is handed out by a
second listener (the "CDN") through a signed, expiring, absolute redirect, as the
Hub does; other files are answered by the Hub's own listener, after a relative
redirect. With --cdn the redirect leads to another server, which serves DIR. --sndbuf
bounds what a connection holds that has not left it: "sent" then means just that. --rate limits
each connection, --total-rate all of them together. With --xet
LFS files have a Xet hash, and answers about them name the route to a Xet token.

With --oauth CLIENT_ID devices can sign in: whoever asks a second time for the token of a
code has it, good for eight hours, and a refresh token that is good once.

Control (never part of the Hub's protocol):
    POST /__sim/faults   a JSON list of rules, tried in order; each
        {"match": regex on "METHOD path", "kind": K, "times": N (default 1, -1
         for ever), ...}
        K = "drop"      close after "bytes" body bytes were sent
            "stall"     send "bytes" body bytes, then nothing for "seconds"
            "status"    answer "status" with "headers" and "body"
            "corrupt"   flip one bit at body offset "bytes"
            "no_range"  ignore Range: 200 and the whole body
            "truncate"  claim the right length, send "bytes" fewer, close
            "expire"    the signed CDN address answers 403
            "trickle"   send the body at "rate" bytes per second
            "delay"     wait "seconds" before answering
            "garbage"   answer 200 with bytes that are not the JSON expected
    POST /__sim/known    a JSON list of tokens that are valid and see what is open
    POST /__sim/entitled a JSON list of tokens with access to all, besides --token
    GET  /__sim/log      every request so far: method, path, listener, range,
                         authorization (bool), status, sent, open (until all of
                         the answer was sent or the client went away)
    POST /__sim/reset    forget the log and the faults
"""
import argparse, gzip, hashlib, hmac, json, os, re, socket, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".onnx", ".h5", ".msgpack", ".npz", ".tar.gz")
LFS_SIZE = 1 << 20
SECRET = os.urandom(16)


class File:
    def __init__(self, path, real):
        self.path, self.real, self.size = path, real, real.stat().st_size
        sha1, sha256 = hashlib.sha1(b"blob %d\0" % self.size), hashlib.sha256()
        with open(real, "rb") as f:
            while block := f.read(1 << 20):
                sha1.update(block), sha256.update(block)
        self.git, self.sha256 = sha1.hexdigest(), sha256.hexdigest()
        self.lfs = self.size >= LFS_SIZE or path.endswith(WEIGHTS)
        if self.lfs:
            pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {self.size}\n"
            self.pointer = len(pointer)
            self.git = hashlib.sha1(b"blob %d\0" % len(pointer) + pointer.encode()).hexdigest()
        self.etag = self.sha256 if self.lfs else self.git

    def tree_entry(self):
        entry = {"type": "file", "oid": self.git, "size": self.size, "path": self.path}
        if self.lfs:
            entry["lfs"] = {"oid": self.sha256, "size": self.size, "pointerSize": self.pointer}
        return entry


class Repo:
    def __init__(self, repo_id, folder):
        self.id, self.revisions = repo_id, {}
        side = folder / ".sim.json"
        self.meta = json.loads(side.read_text()) if side.exists() else {}
        self.add("main", folder)

    def add(self, name, folder):
        files = {}
        for real in sorted(folder.rglob("*")):
            path = real.relative_to(folder).as_posix()
            if real.is_file() and path != ".sim.json" and not path.startswith(".git/"):
                files[path] = File(path, real)
        commit = hashlib.sha1("\n".join(f"{f.path} {f.etag}" for f in files.values()).encode() + self.id.encode()).hexdigest()
        self.revisions[name] = (commit, files)

    def at(self, rev):
        rev = {"refs/heads/main": "main", "refs/pr/1": "pr1"}.get(rev, rev)
        if rev in self.revisions:
            return self.revisions[rev]
        for commit, files in self.revisions.values():
            if commit == rev or (len(rev) >= 7 and commit.startswith(rev)):
                return commit, files
        return None

    def info(self, commit, files, blobs=False):
        siblings = []
        for f in files.values():
            s = {"rfilename": f.path}
            if blobs:
                s |= {"size": f.size, "blobId": f.git}
                if f.lfs:
                    s["lfs"] = {"sha256": f.sha256, "size": f.size, "pointerSize": f.pointer}
            siblings.append(s)
        base = {
            "_id": hashlib.sha1(self.id.encode()).hexdigest()[:24], "id": self.id, "modelId": self.id,
            "author": self.id.split("/")[0], "sha": commit, "lastModified": "2026-01-02T03:04:05.000Z",
            "createdAt": "2025-01-02T03:04:05.000Z", "private": False, "gated": False, "disabled": False,
            "downloads": 0, "likes": 0, "tags": [], "siblings": siblings,
            "usedStorage": sum(f.size for f in files.values()),
        }
        return base | {k: v for k, v in self.meta.items() if not k.startswith("_")}


class Sim:
    def __init__(self, args):
        self.args, self.lock, self.log, self.faults, self.repos = args, threading.Lock(), [], [], {}
        # Tokens that are valid without access to what is gated or private, and those with it besides --token.
        self.known, self.entitled = set(), set()
        # When the line that all connections share is free again.
        self.free_at = 0.0
        # Codes of devices and how often each was asked for; access tokens; refresh tokens.
        self.codes, self.granted, self.refreshers = {}, set(), set()
        root = Path(args.root)
        for folder in sorted(root.glob("*/*")):
            if folder.is_dir() and "@" not in folder.name:
                repo_id = f"{folder.parent.name}/{folder.name}"
                self.repos[repo_id] = Repo(repo_id, folder)
        for folder in sorted(root.glob("*/*@*")):
            name, rev = folder.name.split("@", 1)
            if repo := self.repos.get(f"{folder.parent.name}/{name}"):
                repo.add(rev, folder)
        self.listing = [repo.info(*repo.at("main")) for repo in self.repos.values()]
        if args.models:
            opener = gzip.open if args.models.endswith(".gz") else open
            with opener(args.models, "rt") as f:
                self.listing += [m for line in f if (m := json.loads(line))["id"] not in self.repos]

    def take_turn(self, sent):
        """Waits until the line that all connections share has passed these bytes on."""
        with self.lock:
            self.free_at = max(self.free_at, time.monotonic()) + sent / self.args.total_rate
            wait = self.free_at - time.monotonic()
        time.sleep(max(0, wait))

    def fault(self, line):
        with self.lock:
            for rule in self.faults:
                if rule.get("times", 1) != 0 and re.search(rule["match"], line):
                    rule["times"] = rule.get("times", 1) - 1
                    return rule
        return None


class Server(ThreadingHTTPServer):
    request_queue_size, daemon_threads = 1024, True  # many clients connect at once; the default of 5 drops their SYNs
    sndbuf = 0

    def get_request(self):
        client, address = super().get_request()
        if self.sndbuf:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.sndbuf)
        return client, address


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a header and a body in two writes would wait 40 ms for an ACK
    server_version, sys_version = "hubsim", ""
    sim, cdn = None, False

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.route()

    def do_GET(self):
        self.route()

    def do_POST(self):
        self.route()

    # -- answering ---------------------------------------------------------
    def route(self):
        url = urlsplit(self.path)
        path, self.query = unquote(url.path), parse_qs(url.query)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path.startswith("/__sim/"):
            return self.control(path, body)
        self.entry = {"method": self.command, "path": path, "listener": "cdn" if self.cdn else "hub",
                      "range": self.headers.get("Range"), "authorization": "Authorization" in self.headers,
                      "user_agent": self.headers.get("User-Agent"), "status": 0, "sent": 0, "open": True, "time": time.time()}
        with self.sim.lock:
            self.sim.log.append(self.entry)
        if self.sim.args.latency:
            time.sleep(self.sim.args.latency)
        self.rule = self.sim.fault(f"{self.command} {path}") or {}
        kind = self.rule.get("kind")
        if kind == "delay":
            time.sleep(self.rule["seconds"])
        try:
            if kind == "status":
                return self.answer(self.rule["status"], self.rule.get("body", "").encode(), self.rule.get("headers", {}))
            if kind == "garbage":
                return self.answer(200, b'{"id": [unfinished', {"Content-Type": "application/json"})
            if self.cdn:
                return self.serve_cdn(path)
            self.serve_hub(path, body)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True
        finally:
            self.entry["open"] = False

    def control(self, path, body):
        sim, out = self.sim, b"{}"
        with sim.lock:
            if path.endswith("faults"):
                sim.faults = json.loads(body or b"[]")
            elif path.endswith("reset"):
                sim.faults, sim.log = [], []
            elif path.endswith("known"):
                sim.known = set(json.loads(body))
            elif path.endswith("entitled"):
                sim.entitled = set(json.loads(body))
            else:
                out = json.dumps(sim.log).encode()
        self.answer(200, out, {"Content-Type": "application/json"}, count=False)

    def answer(self, status, body=b"", headers=None, count=True):
        self.send_response(status)
        if not self.cdn:
            self.send_header("RateLimit", '"api";r=499;t=120')
            self.send_header("RateLimit-Policy", '"fixed window";"api";q=500;w=300')
        for k, v in (headers or {}).items():
            self.send_header(k, v)
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if count:
            self.entry["status"], self.entry["sent"] = status, len(body) if self.command != "HEAD" else 0

    def reply(self, value, headers=None):
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json; charset=utf-8"} | (headers or {}))

    def refuse(self, status, code, message, headers=None):
        self.answer(status, json.dumps({"error": message}).encode(),
                    {"Content-Type": "application/json; charset=utf-8", "X-Error-Code": code, "X-Error-Message": message} | (headers or {}))

    # -- the Hub -----------------------------------------------------------
    def base(self):
        return f"http://{self.headers.get('Host', '127.0.0.1')}"

    def authorised(self):
        header = self.headers.get("Authorization", "")
        return (self.signed_in() or header.removeprefix("Bearer ") in self.sim.entitled
                or bool(self.sim.args.token) and header == f"Bearer {self.sim.args.token}")

    def signed_in(self):
        return self.headers.get("Authorization", "").removeprefix("Bearer ") in self.sim.granted

    def oauth(self, path, body):
        """RFC 8628 as the Hub has it: no interval, and a pending code is a 400."""
        form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
        self.entry["grant_type"] = form.get("grant_type")

        def error(code):
            self.answer(400, json.dumps({"error": code}).encode(), {"Content-Type": "application/json"})

        if form.get("client_id") != self.sim.args.oauth:
            return error("invalid_client")
        if path == "/oauth/device":
            code = os.urandom(16).hex()
            self.sim.codes[code] = 0
            return self.reply({"device_code": code, "user_code": "ABCD-1234", "interval": self.sim.args.interval,
                               "verification_uri": f"{self.base()}/oauth/device", "expires_in": 300})
        with self.sim.lock:
            if form.get("grant_type") == "refresh_token":
                if form.get("refresh_token") not in self.sim.refreshers:
                    return error("invalid_grant")
                self.sim.refreshers.remove(form["refresh_token"])
            else:
                asked = self.sim.codes.get(form.get("device_code"))
                if asked is None:
                    return error("invalid_grant")
                self.sim.codes[form["device_code"]] = asked + 1
                if asked == 0:
                    return error("authorization_pending")
                del self.sim.codes[form["device_code"]]
            token, refresher = "hf_oauth_" + os.urandom(20).hex(), os.urandom(20).hex()
            self.sim.granted.add(token)
            self.sim.refreshers.add(refresher)
        self.reply({"access_token": token, "token_type": "bearer", "expires_in": 28800, "refresh_token": refresher,
                    "scope": "openid profile"})

    def serve_hub(self, path, body):
        if self.sim.args.oauth and path in ("/oauth/device", "/oauth/token"):
            return self.oauth(path, body)
        if path == "/api/whoami-v2":
            if not self.authorised():
                return self.refuse(401, "InvalidToken", "Invalid username or password.")
            if self.signed_in():
                return self.reply({"type": "user", "id": "0" * 24, "name": "sim", "orgs": [], "auth": {"type": "oauth"}})
            return self.reply({"type": "user", "id": "0" * 24, "name": "sim", "fullname": "Sim User",
                               "email": "sim@example.com", "orgs": [],
                               "auth": {"type": "access_token", "accessToken": {"displayName": "sim", "role": "read"}}})
        if path == "/api/models":
            return self.list_models()
        if "Authorization" in self.headers and self.sim.args.token and not self.authorised() and (
                self.headers["Authorization"].removeprefix("Bearer ") not in self.sim.known):
            return self.refuse(401, "InvalidToken", "Invalid credentials in Authorization header")
        if m := re.fullmatch(r"/api/models/([^/]+/[^/]+)(/.*)?", path):
            return self.model_api(m[1], m[2] or "", body)
        if path == "/api/agent-harnesses":
            return self.reply({"standardEnvVars": [], "harnesses": {}})
        if m := re.fullmatch(r"/([^/]+/[^/]+)/resolve/(refs/pr/\d+|refs/convert/[^/]+|[^/]+)/(.+)", path):
            return self.resolve(*m.groups())
        if m := re.fullmatch(r"/api/resolve-cache/models/([^/]+/[^/]+)/([0-9a-f]{40})/(.+)", path):
            return self.resolve(*m.groups(), cached=True)
        self.refuse(404, "RepoNotFound", "Repository not found")

    def repo(self, repo_id):
        repo = self.sim.repos.get(repo_id)
        if repo is None or (repo.meta.get("private") and not self.authorised()):
            anonymous = "Authorization" not in self.headers
            self.refuse(401 if anonymous else 404, "RepoNotFound", "Invalid username or password." if anonymous else "Repository not found")
            return None
        return repo

    def gate(self, repo):
        if repo.meta.get("gated") and not self.authorised():
            anonymous = "Authorization" not in self.headers
            self.refuse(401 if anonymous else 403, "GatedRepo",
                        f"Access to model {repo.id} is restricted. You must have access to it and be authenticated to access it. Please log in.")
            return False
        return True

    def list_models(self):
        q = lambda k, d=None: self.query.get(k, [d])[0]
        rows = self.sim.listing
        if text := q("search"):
            rows = [m for m in rows if text.lower() in m["id"].lower()]
        if author := q("author"):
            rows = [m for m in rows if m["id"].split("/")[0] == author]
        for want in self.query.get("filter", []):
            for tag in want.split(","):
                rows = [m for m in rows if tag in m.get("tags", []) or tag in (m.get("pipeline_tag"), m.get("library_name"))]
        if tag := q("pipeline_tag"):
            rows = [m for m in rows if m.get("pipeline_tag") == tag]
        sort = {"trending": "trendingScore"}.get(q("sort", ""), q("sort", ""))
        if sort:
            empty = "" if sort in ("lastModified", "createdAt") else 0
            rows = sorted(rows, key=lambda m: m.get(sort) or empty, reverse=True)
        limit = min(int(q("limit", "1000")), self.sim.args.page)
        start = int(q("cursor", "0"))
        page, headers = rows[start:start + limit], {}
        if start + limit < len(rows):
            query = {k: v for k, v in self.query.items()} | {"cursor": [str(start + limit)], "limit": [str(limit)]}
            headers["Link"] = f'<{self.base()}/api/models?{urlencode(query, doseq=True)}>; rel="next"'
        # As on the Hub: the plain item is short, full adds to it, expand names what comes back beside the id.
        plain = {"_id", "id", "modelId", "likes", "trendingScore", "private", "downloads", "tags", "pipeline_tag", "library_name", "createdAt"}
        expand = [e for v in self.query.get("expand", []) + self.query.get("expand[]", []) for e in v.split(",")]
        keep = {"_id", "id", *expand} if expand else plain | ({"author", "lastModified", "gated", "disabled", "sha", "siblings"} if q("full") in ("true", "1", "True") else set())
        self.reply([{k: v for k, v in m.items() if k in keep} for m in page], headers)

    def model_api(self, repo_id, rest, body):
        repo = self.repo(repo_id)
        if repo is None:
            return
        m = re.fullmatch(r"(?:/(revision|tree|paths-info)/(refs/pr/\d+|[^/]+)(?:/(.*))?|/(refs))?", rest)
        if not m:
            return self.refuse(404, "EntryNotFound", "Not found")
        kind, rev, sub, refs = m.groups()
        if refs:
            branches = [{"name": n, "ref": f"refs/heads/{n}", "targetCommit": c} for n, (c, _) in repo.revisions.items() if n != "pr1"]
            return self.reply({"tags": [], "branches": branches, "converts": []})
        found = repo.at(rev or "main")
        if found is None:
            return self.refuse(404, "RevisionNotFound", f"Invalid rev id: {rev}")
        commit, files = found
        if kind in (None, "revision"):
            blobs = self.query.get("blobs", [""])[0].lower() in ("true", "1")
            return self.reply(repo.info(commit, files, blobs))
        entries = {}
        prefix = f"{sub.strip('/')}/" if sub else ""
        recursive = self.query.get("recursive", [""])[0].lower() in ("true", "1")
        for f in files.values():
            if not f.path.startswith(prefix):
                continue
            parts = f.path[len(prefix):].split("/")
            for depth in range(1, len(parts) if recursive else min(2, len(parts))):
                folder = prefix + "/".join(parts[:depth])
                entries[folder] = {"type": "directory", "oid": hashlib.sha1(folder.encode()).hexdigest(), "size": 0, "path": folder}
            if recursive or len(parts) == 1:
                entries[f.path] = f.tree_entry()
        if kind == "paths-info":
            form = json.loads(body) if body.startswith(b"{") else parse_qs(body.decode())
            return self.reply(self.with_xet([files[p].tree_entry() for p in form.get("paths", []) if p in files]))
        if sub and not entries:
            return self.refuse(404, "EntryNotFound", f"{sub} does not exist on \"{rev}\"")
        rows = list(entries.values())
        limit = min(int(self.query.get("limit", ["1000"])[0]), self.sim.args.page)
        start = int(self.query.get("cursor", ["0"])[0])
        headers = {}
        if start + limit < len(rows):
            query = self.query | {"cursor": [str(start + limit)]}
            headers["Link"] = f'<{self.base()}{urlsplit(self.path).path}?{urlencode(query, doseq=True)}>; rel="next"'
        self.reply(self.with_xet(rows[start:start + limit]), headers)

    def with_xet(self, rows):
        return [row | {"xetHash": row["lfs"]["oid"]} if self.sim.args.xet and row.get("lfs") else row for row in rows]

    def resolve(self, repo_id, rev, path, cached=False):
        repo = self.repo(repo_id)
        if repo is None:
            return
        found = repo.at(rev)
        if found is None:
            return self.refuse(404, "RevisionNotFound", f"Invalid rev id: {rev}")
        commit, files = found
        if not self.gate(repo):
            return
        f = files.get(path)
        if f is None:
            return self.refuse(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit})
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes",
                   "Access-Control-Expose-Headers": "X-Repo-Commit,X-Request-Id,X-Error-Code,X-Error-Message,ETag,Link,Accept-Ranges,Content-Range,X-Linked-Size,X-Linked-ETag,X-Xet-Hash"}
        if not f.lfs and not cached:  # the Hub answers a small file in two hops, the first relative
            target = f"/api/resolve-cache/models/{repo_id}/{commit}/{quote(path, safe='')}?etag=%22{f.etag}%22"
            note = f"Temporary Redirect. Redirecting to {target}".encode()
            return self.answer(307, note, headers | {"Location": target, "Content-Type": "text/plain; charset=utf-8",
                                                     "X-Linked-ETag": f'"{f.etag}"', "X-Linked-Size": str(f.size)})
        if not f.lfs:
            return self.send_file(f, headers | {"ETag": f'W/"{f.etag}"', "Content-Type": "text/plain; charset=utf-8"})
        expires = str(int(time.time()) + 3600)
        signed = hmac.new(SECRET, f"{f.sha256}{expires}".encode(), "sha256").hexdigest()[:32]
        query = urlencode({"sha": f.sha256, "Expires": expires, "Signature": signed})
        target = f"{self.sim.cdn}/{quote(repo_id)}/{quote(path)}?{query}"
        note = f"Found. Redirecting to {target}".encode()
        if self.sim.args.xet:
            route = f"{self.base()}/api/models/{repo_id}/xet-read-token/{commit}"
            headers |= {"X-Xet-Hash": f.sha256, "X-Xet-Refresh-Route": route, "Link": f'<{route}>; rel="xet-auth"'}
        self.answer(302, note, headers | {"Location": target, "X-Linked-ETag": f'"{f.sha256}"', "X-Linked-Size": str(f.size),
                                          "ETag": f'"{f.sha256}"', "Content-Type": "text/plain; charset=utf-8"})

    # -- content -----------------------------------------------------------
    def serve_cdn(self, path):
        sha, expires, signed = (self.query.get(k, [""])[0] for k in ("sha", "Expires", "Signature"))
        good = hmac.new(SECRET, f"{sha}{expires}".encode(), "sha256").hexdigest()[:32]
        if self.rule.get("kind") == "expire" or not hmac.compare_digest(good, signed) or int(expires or 0) < time.time():
            return self.answer(403, b"<Error><Code>AccessDenied</Code></Error>", {"Content-Type": "application/xml"})
        for repo in self.sim.repos.values():
            for _, files in repo.revisions.values():
                for f in files.values():
                    if f.lfs and f.sha256 == sha:
                        return self.send_file(f, {"ETag": f'"{sha}"', "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"})
        self.answer(404)

    def send_file(self, f, headers):
        start, end, status = 0, f.size - 1, 200
        asked = self.headers.get("Range")
        if asked and self.rule.get("kind") != "no_range":
            m = re.fullmatch(r"bytes=(\d*)-(\d*)", asked.strip())
            if m and (m[1] or m[2]):
                if m[1]:
                    start, end = int(m[1]), min(int(m[2]) if m[2] else end, end)
                else:
                    start = max(0, f.size - int(m[2]))
                if start >= f.size or start > end:
                    return self.answer(416, b"", headers | {"Content-Range": f"bytes */{f.size}"})
                status = 206
                headers = headers | {"Content-Range": f"bytes {start}-{end}/{f.size}"}
        length = max(0, end - start + 1) if f.size else 0
        self.send_response(status)
        self.entry["status"] = status
        for k, v in (headers | {"Content-Length": str(length)}).items():
            self.send_header(k, v)
        self.end_headers()
        if self.command != "HEAD" and length:
            self.send_body(f, start, length)

    def send_body(self, f, start, length):
        rule, kind = self.rule, self.rule.get("kind")
        rate = rule["rate"] if kind == "trickle" else self.sim.args.rate
        stop = {"drop": rule.get("bytes", 0), "stall": rule.get("bytes", 0), "truncate": length - rule.get("bytes", 0)}.get(kind, length)
        self.wfile.flush()
        with open(f.real, "rb") as src:
            sent = 0
            while sent < min(stop, length):
                step = min(1 << 20, min(stop, length) - sent, max(1, int(rate / 20)) if rate else 1 << 20)
                if kind == "corrupt" and sent <= rule.get("bytes", 0) < sent + step:
                    src.seek(start + sent)
                    block = bytearray(src.read(step))
                    block[rule.get("bytes", 0) - sent] ^= 1
                    self.connection.sendall(block)
                    n = len(block)
                else:
                    n = os.sendfile(self.connection.fileno(), src.fileno(), start + sent, step)
                sent += n
                self.entry["sent"] = sent
                if rate:
                    time.sleep(n / rate)
                if self.sim.args.total_rate:
                    self.sim.take_turn(n)
        if kind == "stall":
            time.sleep(rule.get("seconds", 60))
        if kind in ("drop", "stall", "truncate") and sent < length:
            self.close_connection = True
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--root", required=True)
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--models")
    p.add_argument("--token")
    p.add_argument("--oauth")
    p.add_argument("--interval", type=float, default=0.05)
    p.add_argument("--latency", type=float, default=0)
    p.add_argument("--rate", type=int, default=0)
    p.add_argument("--total-rate", type=int, default=0)
    p.add_argument("--page", type=int, default=1000)
    p.add_argument("--cdn")
    p.add_argument("--sndbuf", type=int, default=0)
    p.add_argument("--xet", action="store_true")
    sim = Sim(args := p.parse_args())
    Server.sndbuf = args.sndbuf
    servers = []
    for cdn in (True, False):
        handler = type("Bound", (Handler,), {"sim": sim, "cdn": cdn})
        servers.append(Server(("127.0.0.1", 0 if cdn else args.port), handler))
    sim.cdn = args.cdn or f"http://127.0.0.1:{servers[0].server_address[1]}"
    threading.Thread(target=servers[0].serve_forever, daemon=True).start()
    print(f"hubsim http://127.0.0.1:{servers[1].server_address[1]}", flush=True)
    try:
        servers[1].serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
