import HubCore
import Support
import Testing

@testable import HubCLI

/// A cache of several users, and caches of others below one's own.
@Suite struct SharedCacheTests {
    private let stage: Stage
    private let weights: [UInt8]

    init() throws {
        stage = try Stage()
        for name in ["org/m", "org/other"] {
            try ModelRepository(name, in: stage.root).write("config.json", "{}\n")
        }
        weights = try ModelRepository("org/m", in: stage.root).random("w.safetensors", size: 300_000, seed: 6)
    }

    // MARK: A group's cache

    /// Three users with umasks that keep everything from their group: the cache's folder says that it is shared, and hub
    /// shares what it writes there, and nothing else.
    @Test func threeUsersShareACacheWhateverTheirUmasks() async throws {
        let group: UInt32 = 54_400
        let users = (54_401...54_403).compactMap { OtherUser($0, group: $0, groups: [group]) }
        guard users.count == 3 else { try Test.cancel("this user cannot become another") }
        let program = try BuiltProduct.path()
        guard try await users[0].canRun(program) else { try Test.cancel("another user cannot run \(program)") }
        let cache = stage.machine("shared")
        try OtherUser.makeShared(cache, group: group)
        func run(_ user: OtherUser, _ umask: String, _ words: String...) async throws -> ProcessResult {
            let home = stage.machine("home-\(user.user)")
            try user.own(home)
            let line = ["-c", "umask \(umask); exec \"$@\"", "sh"] + user.words(program, words)
            let variables = ["HOME": home, "HUB_HOME": home + "/state", "HF_HUB_CACHE": cache]
            return try await RunningProcess.run(
                "/bin/sh", line, environment: stage.environment.merging(variables) { $1 })
        }
        #expect(try await run(users[0], "022", "pull", "-q", "org/m").status == 0)
        #expect(try await run(users[1], "077", "pull", "-q", "org/other").status == 0)
        #expect(try await run(users[2], "027", "pin", "org/m").status == 0)
        for name in try stage.listing(cache) {
            let status = try #require(try FileSystem.linkStatus(Path.join(cache, name)))
            guard status.kind != .symlink else { continue }
            let wanted: UInt32 = status.kind == .directory ? 0o2770 : 0o660
            #expect(
                status.group == group && status.mode & wanted == wanted, "\(name): \(String(status.mode, radix: 8))"
            )
        }
        // A folder of one's own, and the catalog, are nobody else's.
        let own = stage.machine("home-54401/m")
        #expect(try await run(users[0], "077", "pull", "-q", "org/m", "--local-dir", own).status == 0)
        for path in [Path.join(own, "w.safetensors"), stage.machine("home-54401/state/catalog.sqlite3")] {
            #expect(try #require(try FileSystem.status(path)).mode & 0o022 == 0, "\(path)")
        }

        // As Python writes it, with a umask of 077: the doctor sees it, and its owner's gives it to the group.
        let blob = Path.join(
            cache, "models--org--m/blobs/\(ContentHasher.digest(of: weights, like: .sha256("")).hex)")
        try FileDescriptor(blob, [.write]).setMode(0o600)
        let told = try await run(users[1], "022", "doctor").output
        #expect(told.contains("the group cannot use 1 file or folder of this shared cache"), "\(told)")
        _ = try await run(users[1], "022", "doctor", "fix")
        #expect(try FileSystem.status(blob)?.mode == 0o600, "another user may not")
        _ = try await run(users[0], "022", "doctor", "fix")
        #expect(try FileSystem.status(blob)?.mode == 0o660)
        #expect(try await !run(users[1], "022", "doctor").output.contains("the group cannot use"))
        #expect(try await run(users[1], "022", "rm", "org/m", "--yes").status == 0)
    }

    // MARK: Caches of others

    /// - Parameter seal: makes the cache read-only, if that can be done.
    private func withSharedCache(_ body: (_ shared: String) async throws -> Void) async throws {
        guard let disk = try await SmallDisk(stage.machine, "32m") else {
            try Test.cancel("this user cannot mount a file system")
        }
        let result: Result<Void, any Error>
        do {
            let shared = Path.join(disk.path, "hub")
            #expect(try await stage.run("pull", "-q", "org/m", with: ["HF_HUB_CACHE": shared]).status == 0)
            try #require(try await disk.remount("ro"))
            result = .success(try await body(shared))
        } catch { result = .failure(error) }
        try await disk.unmount()
        try result.get()
    }

    @Test func whatIsCompleteInAReadOnlyCacheIsUsedThere() async throws {
        try await withSharedCache { shared in
            let variables = ["HUB_CACHE_PATH": "/nowhere:\(shared)"]
            let before = (try stage.listing(shared), stage.hub.requests("/resolve/").count)
            let pulled = try await stage.run("pull", "-q", "org/m", with: variables)
            #expect(
                pulled.status == 0 && pulled.output.hasPrefix("\(shared)/models--org--m/snapshots/"),
                "\(pulled.error)")
            let estimate = try await stage.run("pull", "org/m", "--estimate", "--json", with: variables).document()
            #expect(estimate.objects("models").first?["download_bytes"]?.int == 0)
            let offline = try await stage.run("pull", "-q", "org/m", "--offline", with: variables)
            #expect(offline.output == pulled.output, "\(offline.error)")
            #expect(try await stage.run("path", "org/m", with: variables).output == pulled.output)
            #expect(stage.hub.requests("/resolve/").count == before.1)
            #expect(!FileSystem.exists(Path.join(stage.cache, "models--org--m")))

            // Each is listed where it is.
            #expect(try await stage.run("pull", "-q", "org/other", with: variables).status == 0)
            let listed = try await stage.run("ls", with: variables).output
            #expect(listed.contains("IN \(shared)"), "\(listed)")
            #expect(
                try await stage.run("ls", "-q", "--sort", "name", with: variables).output == "org/other\norg/m\n")
            let models = try await stage.run("ls", "--json", with: variables).document().objects("models")
            #expect(
                models.compactMap { $0["path"]?.string }
                    == ["\(stage.cache)/models--org--other", "\(shared)/models--org--m"])
            #expect(try await stage.run("doctor", with: variables).output.contains("read after it: \(shared)"))

            // Nothing there is deleted, and nothing was written.
            #expect(try await stage.run("rm", "org/m", "--yes", with: variables).status == 3)
            #expect(try await stage.run("gc", "--unused-for", "0d", "--yes", with: variables).status == 0)
            #expect(try await stage.run("ls", "-q", with: variables).output == "org/m\n")
            #expect(try stage.listing(shared) == before.0)
        }
    }

    /// Of a newer commit only what the other cache lacks is fetched, and one's own is used from then on.
    @Test func whatAReadOnlyCacheLacksIsFetchedIntoOnesOwn() async throws {
        try await withSharedCache { shared in
            let variables = ["HUB_CACHE_PATH": shared]
            try ModelRepository("org/m", in: stage.root).write("more.txt", "more\n")
            let before = stage.hub.requests.count
            let pulled = try await stage.run("pull", "-q", "org/m", with: variables)
            #expect(
                pulled.status == 0 && pulled.output.hasPrefix("\(stage.cache)/models--org--m/"), "\(pulled.error)")
            let path = String(pulled.output.dropLast())
            #expect(try FileSystem.contents(Path.join(path, "w.safetensors")) == weights ? true : false)
            #expect(!stage.hub.requests.dropFirst(before).contains { $0.path.hasSuffix("w.safetensors") })
            #expect(try await stage.run("path", "org/m", with: variables).output == pulled.output)
            // A copy of its own, which stays if the other cache goes.
            #expect(try await stage.run("verify", "org/m", "--full").status == 0)
        }
    }

    /// An interrupted pull of one's own does not hide what is whole elsewhere.
    @Test func aWholeModelIsPreferredToPartOfIt() async throws {
        let shared = stage.machine("other/hub")
        #expect(try await stage.run("pull", "-q", "org/m", with: ["HF_HUB_CACHE": shared]).status == 0)
        #expect(try await stage.run("pull", "-q", "org/m", "--include", "*.json").status == 0)
        let path = try await stage.run("path", "org/m", with: ["HUB_CACHE_PATH": shared]).output
        #expect(path.hasPrefix(shared))
    }
}
