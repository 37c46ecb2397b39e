import HubCore
import HubServer
import Libc
import Support

@testable import Fetcher
@testable import HubMirror

/// One random course of events, and what was wrong in it.
final class MirrorCourse: @unchecked Sendable {
    private let hub: ModelHub
    private let address: String
    private let folder: TemporaryFolder
    private let forwards: Bool
    private var random: SeededRandom
    private var bench: MirrorBench
    private var mirrors = 1
    /// Whom the mirror may remember as admitted, as `TOKEN REPOSITORY`; `* REPOSITORY` for all.
    private var admitted: Set<String> = []
    /// Whether clients may have wrong bytes from before.
    private var hasFlipped = false
    private var hadTrouble = false
    private let found = Lock<[String]>([])
    private var log: [String] = []

    private static let tokens = ["hf_alice", "hf_bob", nil]
    private static let names = ["open/a", "open/b", "priv/p", "gated/g", "bob/own", "old/g"]

    /// What was wrong, each with the events before it.
    var faults: [String] { found.withLock { $0 }.map { "\($0), after \(log.joined(separator: "; "))" } }

    init(_ hub: ModelHub, _ address: String, _ random: SeededRandom) throws {
        (self.hub, self.address, self.random) = (hub, address, random)
        // In memory where that is a folder: nothing of it is to outlive the test.
        folder = try TemporaryFolder("course", in: FileSystem.exists("/dev/shm") ? "/dev/shm" : nil)
        forwards = !self.random.one(in: 5)
        bench = try MirrorBench(of: address, forwards ? .forward : .none, home: folder("m1"))
        hub.change { state in
            state = ModelHub.State()
            state.tokens = ["hf_alice", "hf_bob"]
            state.renamed = ["old/g": "gated/g"]
        }
        for name in Self.names where name != "old/g" { commit(to: name) }
    }

    // MARK: The world

    private func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: (count + 7) & ~7) { buffer, filled in
            UnsafeMutableRawBufferPointer(buffer).withMemoryRebound(to: UInt64.self) { words in
                for index in words.indices { words[index] = random.next() }
            }
            filled = count
        }
    }

    /// Whether bytes are those from a place of a content on; comparing one by one takes long in a build for debugging.
    private static func are(_ bytes: [UInt8], _ content: [UInt8], from start: Int = 0) -> Bool {
        guard bytes.count <= content.count - start else { return false }
        return bytes.withUnsafeBytes { left in
            content.withUnsafeBytes { right in
                bytes.isEmpty || memcmp(left.baseAddress!, right.baseAddress! + start, left.count) == 0
            }
        }
    }

    /// A commit of new files; what it keeps of the one before is the same content under the same name.
    private func commit(to name: String) {
        let commit = (0..<5).map { _ in String(random.next() | 1 << 63, radix: 16).prefix(8) }.joined()
        var files = ["config.json": bytes(number(0..<3000)), "w.bin": bytes(number(1..<250_000))]
        files["v.bin"] = bytes(number(1..<60_000))
        hub.change { state in
            var repo = state.repos[name] ?? ModelHub.Repo(name: name)
            if let before = repo.commits[repo.main] { files["v.bin"] = before["v.bin"] }
            // Names the digest of a content that only some may have, and has no bytes of it.
            if name == "bob/own" {
                files["w.bin"] = state.repos["gated/g"].flatMap { $0.commits[$0.main]?["w.bin"] }
                repo.lacking = ["w.bin"]
            }
            // The same content twice.
            if name == "open/b" { files["w.bin"] = state.repos["open/a"].flatMap { $0.commits[$0.main]?["w.bin"] } }
            repo.commits[commit] = files
            repo.main = commit
            if name == "priv/p", repo.readers == nil { repo.readers = ["hf_alice"] }
            if name == "gated/g", repo.granted == nil { repo.granted = ["hf_alice"] }
            state.repos[name] = repo
        }
    }

    // MARK: Events

    func run() async throws {
        for _ in 0..<number(3..<9) {
            switch number(0..<10) {
            case 0: turnRights()
            case 1: trouble()
            case 2: calm()
            case 3: try await kill(during: [])
            case 4: try await kill(during: asks())
            case 5:
                let name = Self.names[number(0..<4)]
                log.append("a commit to \(name)")
                commit(to: name)
            default: await burst(asks())
            }
        }
        try await end()
    }

    private func turnRights() {
        let isBobs = random.one(in: 2)
        log.append("Bob may \(isBobs)")
        hub.change { state in
            state.repos["priv/p"]?.readers = isBobs ? ["hf_alice", "hf_bob"] : ["hf_alice"]
            state.repos["gated/g"]?.granted = isBobs ? ["hf_alice", "hf_bob"] : ["hf_alice"]
        }
    }

    private func trouble() {
        let share = Double(number(0..<100)) / 100
        let all: [ModelHub.Trouble] = [
            .status(500), .status(503), .status(429), .status(408), .status(404), .page, .nothing, .otherJSON,
            .plainNotFound, .redirect("/login"), .redirect(""), .redirect("file:///etc/passwd"), .cut(share),
            .cut(share), .flip(share), .flip(share), .flip(share), .withoutRanges,
        ]
        let trouble = all[number(0..<all.count)]
        let part = [ModelHub.Part.all, .files, .files, .rest][number(0..<4)]
        let times = [1, 2, 3, 8, Int.max][number(0..<5)]
        let spared: Set<String> = random.one(in: 2) ? ["hf_alice"] : []
        log.append("\(trouble) for \(part) \(times) times")
        hadTrouble = true
        if case .flip = trouble { hasFlipped = true }
        hub.change { ($0.trouble, $0.part, $0.times, $0.spared) = (trouble, part, times, spared) }
    }

    private func calm() {
        log.append("calm")
        hub.change { $0.trouble = nil }
    }

    // MARK: Clients

    struct Ask: Sendable {
        enum Kind: Sendable { case whole, head, part(Int, Int), rest(Int), leave(Int), download, info }
        var name: String
        var path: String
        /// nil for main.
        var commit: String?
        var token: String?
        var kind: Kind
        var target: String { "/\(name)/resolve/\(commit ?? "main")/\(path)" }
        var says: String { "\(token ?? "nobody") asks \(kind) of \(target)" }
    }

    private func asks() -> [Ask] {
        (0..<number(1..<6)).map { _ in
            let name = Self.names[number(0..<Self.names.count)]
            let path = ["config.json", "w.bin", "w.bin", "w.bin", "v.bin"][number(0..<5)]
            let repo = hub.repo(name)!
            let commits = repo.commits.keys.sorted()
            let commit = random.one(in: 3) ? commits[number(0..<commits.count)] : nil
            let size = repo.file(path, at: commit ?? repo.main)!.count
            let at = number(0..<max(1, size))
            let kinds: [Ask.Kind] = [
                .whole, .whole, .head, .part(at, number(at..<max(at + 1, size)) + 1), .rest(at), .leave(at),
                .download,
                .download, .info,
            ]
            return Ask(
                name: name, path: path, commit: commit, token: Self.tokens[number(0..<3)],
                kind: kinds[number(0..<kinds.count)])
        }
    }

    private func burst(_ asks: [Ask]) async {
        log.append(asks.map(\.says).joined(separator: " and "))
        note(asks)
        await ask(asks, of: bench)
    }

    /// Notes whom the mirror may admit from now on.
    private func note(_ asks: [Ask]) {
        for one in asks {
            guard let repo = hub.repo(one.name) else { continue }
            let token = forwards ? one.token : nil
            if repo.readers == nil, repo.granted == nil { admitted.insert("* \(repo.name)") }
            if repo.gives(to: token) { admitted.insert("\(token ?? "-") \(repo.name)") }
            if repo.isVisible(to: token) { admitted.insert("\(token ?? "-") \(repo.name) info") }
        }
    }

    private func ask(_ asks: [Ask], of bench: MirrorBench) async {
        let (admitted, flips) = (admitted, hasFlipped)
        await withTaskGroup(of: Void.self) { group in
            for one in asks {
                group.addTask { [self] in
                    _ = try? await Thread.run { [self] in perform(one, bench, admitted, flips) }
                }
            }
        }
    }

    private func may(_ one: Ask, _ admitted: Set<String>, _ what: String = "") -> Bool {
        let name = hub.repo(one.name)!.name
        return admitted.contains("* \(name)")
            || admitted.contains("\((forwards ? one.token : nil) ?? "-") \(name)\(what)")
    }

    private func fault(_ one: Ask, _ got: MirrorBench.Got, _ what: String) {
        found.withLock { $0.append("\(one.says): \(what) (\(got.status), \(got.body.count) bytes)") }
    }

    private func perform(_ one: Ask, _ bench: MirrorBench, _ admitted: Set<String>, _ flips: Bool) {
        switch one.kind {
        case .info:
            let got = bench.ask("/api/models/\(one.name)/tree/\(one.commit ?? "main")", one.token)
            if got.status == 200, !may(one, admitted, " info") { fault(one, got, "was told what it may not know") }
            judgeStatus(one, got)
        case .download: download(one, bench, admitted, flips)
        case .whole: judge(one, bench.ask(one.target, one.token), nil, admitted, flips)
        case .head: judge(one, bench.ask(one.target, one.token, method: "HEAD"), nil, admitted, flips)
        case .leave(let count):
            judge(one, bench.ask(one.target, one.token, leavesAfter: count), nil, admitted, flips)
        case .part(let low, let high):
            let got = bench.ask(one.target, one.token, range: "bytes=\(low)-\(high - 1)")
            judge(one, got, low..<high, admitted, flips)
        case .rest(let low):
            judge(one, bench.ask(one.target, one.token, range: "bytes=\(low)-"), low..<Int.max, admitted, flips)
        }
    }

    /// As `curl -C -`: goes on after the bytes that it has, and looks at sizes alone.
    private func download(_ one: Ask, _ bench: MirrorBench, _ admitted: Set<String>, _ flips: Bool) {
        var have: [UInt8] = []
        var commit: String?
        var isUnproven = false
        for _ in 0..<4 {
            let got = bench.ask(one.target, one.token, range: have.isEmpty ? nil : "bytes=\(have.count)-")
            guard judge(one, got, have.isEmpty ? nil : have.count..<Int.max, admitted, flips) else { return }
            guard got.status == 200 || got.status == 206, let now = got.headers["X-Repo-Commit"] else { continue }
            // The branch has moved on: curl would mix two files, and so it does with the Hub.
            guard commit == nil || commit == now else { return }
            commit = now
            if got.status == 200 { (have, isUnproven) = ([], false) }
            // The end of a file is sent without proof where only that is asked for.
            if got.status == 206, got.body.count < 64 << 10 { isUnproven = true }
            have += got.body
            guard let content = hub.repo(one.name)?.file(one.path, at: now) else { return }
            guard have.count >= content.count else { continue }
            if have.count != content.count || !Self.are(have, content), !(flips && isUnproven) {
                fault(one, got, "has a wrong file of the right size")
            }
            return
        }
    }

    /// Whether it was as it should be.
    @discardableResult
    private func judge(
        _ one: Ask, _ got: MirrorBench.Got, _ range: Range<Int>?, _ admitted: Set<String>, _ flips: Bool
    ) -> Bool {
        guard got.status == 200 || got.status == 206 else { return judgeStatus(one, got) }
        func wrong(_ what: String) -> Bool {
            fault(one, got, what)
            return false
        }
        guard may(one, admitted) else { return wrong("got what it may not have") }
        guard let repo = hub.repo(one.name), let commit = got.headers["X-Repo-Commit"],
            let content = repo.file(one.path, at: commit), one.commit == nil || one.commit == commit
        else { return wrong("got a file of no such commit") }
        if case .head = one.kind {
            let etag = "\"\(ModelHub.digest(one.path, content))\""
            return got.headers["ETag"] == etag ? true : wrong("has another ETag")
        }
        guard !repo.lacking.contains(one.path) else { return wrong("got a content by its digest alone") }
        guard got.status == 206 || range == nil || content.isEmpty || flips else {
            return wrong("was sent more than asked")
        }
        let wanted = got.status == 206 ? range!.clamped(to: 0..<content.count) : 0..<content.count
        var left = false
        if case .leave(let count) = one.kind { left = got.body.count >= count }
        guard got.isWhole, !left else {
            let isStart = got.body.count <= wanted.count && Self.are(got.body, content, from: wanted.lowerBound)
            return isStart || flips ? true : wrong("has wrong bytes")
        }
        if got.body.count == wanted.count, Self.are(got.body, content, from: wanted.lowerBound) { return true }
        // The client's own digest has to decide about a part.
        let isPart = got.status == 206 && (range!.upperBound != .max || wanted.count < 64 << 10)
        return flips && isPart && got.body.count == wanted.count ? true : wrong("is wrong, and whole")
    }

    @discardableResult
    private func judgeStatus(_ one: Ask, _ got: MirrorBench.Got) -> Bool {
        let known = [200, 401, 403, 404, 408, 416, 429, 502, 503, 504]
        if !known.contains(got.status) { fault(one, got, "a status that is nobody's") }
        return known.contains(got.status)
    }

    // MARK: Ends

    /// The process ends at some moment of the asks; the next one finds what was on the disk. After a power cut what had not
    /// reached stable storage is gone.
    private func kill(during asks: [Ask]) async throws {
        let (isPowerCut, pause) = (random.one(in: 2), number(0..<4000))
        log.append("\(isPowerCut ? "a power cut" : "a kill") during \(asks.map(\.says).joined(separator: " and "))")
        note(asks)
        mirrors += 1
        let (old, home) = (bench, folder("m\(mirrors)"))
        async let answers: Void = ask(asks, of: old)
        try await Thread.run {
            if !asks.isEmpty { FileCopies.sleep(microseconds: pause) }
            try FileCopies.copyState(old.home, to: home, isPowerCut: isPowerCut)
        }
        await answers
        try await Thread.run { old.mirror.stop() }
        admitted = []
        bench = try MirrorBench(of: address, forwards ? .forward : .none, home: home)
        // What the killed mirror knew of wrong contents is gone; clients that go on later are new ones.
        note([])
    }

    /// Upstream is well again: everyone gets what they may have, and nothing is left over.
    private func end() async throws {
        hub.change { $0.trouble = nil }
        log.append("the end")
        // What began in the trouble may still fail.
        try await Thread.run { [bench] in bench.mirror.stop() }
        bench = try MirrorBench(of: address, forwards ? .forward : .none, home: bench.home)
        admitted = []
        hasFlipped = false
        for name in Self.names {
            let repo = hub.repo(name)!
            for (commit, files) in repo.commits {
                for path in files.keys {
                    for token in path == "w.bin" ? Self.tokens : ["hf_alice"] {
                        let one = Ask(name: name, path: path, commit: commit, token: token, kind: .whole)
                        note([one])
                        let (bench, admitted) = (bench, admitted)
                        try await Thread.run { [self] in
                            let got = bench.ask(one.target, token)
                            judge(one, got, nil, admitted, false)
                            let isFor = repo.gives(to: forwards ? token : nil) && !repo.lacking.contains(path)
                            if isFor != (got.status == 200) || !got.isWhole {
                                fault(one, got, "does not get its file")
                            }
                        }
                    }
                }
            }
        }
        let bench = bench
        let left = try await Thread.run {
            bench.mirror.stop()
            return try bench.faults()
        }
        // Of what nobody may have without a token, parts may be left; and after a kill the name under which a branch was to be
        // written, which hub gc removes.
        let isAll = forwards
        found.withLock {
            $0 += left.filter { !$0.contains("/ref.") && (isAll || !$0.hasSuffix(".incomplete")) }
                .map { "left over: \($0)" }
        }
    }
}
