import HubCore
import Support
import Testing

@testable import HubCLI

/// What `hub info` shows of a README: one request at most, and nothing that a README can do to a terminal.
@Suite struct InfoCardTests {
    let stage: Stage
    let repository: ModelRepository
    private static let readme = """
        ---
        license: mit
        tags: [tiny]
        ---
        # Tiny

        <p align="center"><img src="x.png"></p>

        **Tiny** is a [small](https://a.example) model
        for tests.

        More of it.
        """

    init() throws {
        var made: ModelRepository?
        stage = try Stage { made = try ModelRepository.tiny("org/tiny", in: $0) }
        repository = try #require(made)
    }

    /// The Hub redirects requests for small files; that still counts as one request.
    private var readmeRequests: Int { stage.hub.requests("/resolve/.*README.md").count }

    @Test func theFirstParagraphStandsAtTheTop() async throws {
        try repository.write("README.md", Self.readme)
        let result = try await stage.run("info", "org/tiny")
        #expect(result.status == 0 && result.error.isEmpty)
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[1...3] == ["  Tiny is a small model for tests.", "", "  license     mit"])
        // Stored for the commit, for other output formats and offline.
        for words in [
            ["info", "org/tiny"], ["info", "org/tiny", "--refresh"], ["info", "org/tiny", "--offline"],
        ] {
            let again = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(again.lines[1] == "  Tiny is a small model for tests.", "\(words)")
        }
        #expect(readmeRequests == 1)
        let document = try await stage.run("info", "org/tiny", "--json").document()
        #expect(document["license"]?.string == "mit" && document["commit"]?.string?.utf8.count == 40)
    }

    @Test func anotherCommitHasItsOwn() async throws {
        try repository.write("README.md", Self.readme)
        #expect(try await stage.run("info", "org/tiny").status == 0)
        try repository.write("README.md", "It is another model now.\n")
        #expect(try await stage.run("info", "org/tiny").lines[1] == "  It is another model now.")
        #expect(readmeRequests == 2)
    }

    @Test func whatTheCacheHasIsNotAskedFor() async throws {
        try repository.write("README.md", Self.readme)
        #expect(try await stage.run("pull", "org/tiny:README.md").status == 0)
        let seen = readmeRequests
        let elsewhere = ["HUB_HOME": stage.machine("other")]
        for word in ["--offline", "--files"] {
            let result = try await stage.run("info", "org/tiny", word, with: elsewhere)
            #expect(result.status == 0 && result.lines[1] == "  Tiny is a small model for tests.", "\(word)")
        }
        #expect(readmeRequests == seen)
    }

    @Test func aModelWithoutACardHasNone() async throws {
        let result = try await stage.run("info", "org/tiny")
        #expect(result.status == 0 && result.lines[1].hasPrefix("  popularity"))
        #expect(readmeRequests == 0)
        try repository.write("README.md", "# Tiny\n")
        for _ in 1...2 {
            #expect(try await stage.run("info", "org/tiny").lines[1].hasPrefix("  popularity"))
        }
        #expect(readmeRequests == 1, "that it says nothing is remembered too")
    }

    @Test func aHostileCardDrivesNoTerminal() async throws {
        try repository.write(
            "README.md",
            "It \u{1B}[2J\u{1B}]0;owned\u{7} is \u{9B}31m a\u{202E} model &#27;[31m of <script>alert(1)</script><b>ours</b>.\n"
        )
        let process = try stage.start(
            "info", "org/tiny", "--color", "never", terminal: .init(columns: 80, rows: 24))
        let result = try await process.wait()
        for scalar in result.terminal.unicodeScalars where scalar != "\n" && scalar != "\r" {
            #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar != "\u{202E}")
        }
        let lines = result.terminal.split(whereSeparator: \.isNewline)
        #expect(lines[1].hasPrefix("  It [2J]0;owned is 31m a model [31m of"))
    }

    @Test func ofMegabytesOnlyTheBeginningIsRead() async throws {
        try repository.write(
            "README.md",
            "The beginning of it all.\n\n" + String(repeating: "More and more of it.\n", count: 150_000))
        #expect(try await stage.run("info", "org/tiny").lines[1] == "  The beginning of it all.")
        #expect(stage.hub.traffic.contentBytes == 64 << 10 && readmeRequests == 1)
        let one = try ModelRepository("org/one", in: stage.root)
        try one.write("README.md", String(repeating: "word ", count: 400_000))
        let lines = try await stage.run("info", "org/one").output.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[1...4].allSatisfy { $0.hasPrefix("  word word") && DisplayWidth.of(String($0)) <= 80 })
        #expect(lines[4].hasSuffix("…") && lines[5].isEmpty)
    }

    @Test func whatIsNoTextIsNoCard() async throws {
        try repository.random("README.md", size: 5000)
        let result = try await stage.run("info", "org/tiny")
        #expect(result.status == 0 && result.error.isEmpty && result.lines[1].hasPrefix("  popularity"))
    }

    /// The card is an ornament: what goes wrong with it hides nothing and is asked for once.
    @Test func aCardThatCannotBeReadHidesNothing() async throws {
        try repository.write("README.md", Self.readme)
        stage.hub.fail("README.md", .status(500), times: nil)
        let result = try await stage.run("info", "org/tiny")
        #expect(result.status == 0 && result.output.contains("  files       5, 300 kB\n"))
        #expect(
            result.error
                == "hub: its README could not be read: \(stage.hub.endpoint) returned HTTP 500\n")
        #expect(readmeRequests == 1)
        stage.hub.clearFaults()
        stage.hub.fail("README.md", .corrupt(at: 3), times: nil)
        let corrupt = try await stage.run("info", "org/tiny")
        #expect(corrupt.status == 0 && corrupt.error.contains(" has the digest "))
        stage.hub.clearFaults()
        #expect(try await stage.run("info", "org/tiny").lines[1] == "  Tiny is a small model for tests.")
    }

    /// A server knows the token that it was sent, and may write it anywhere.
    @Test func aTokenInACardIsShownToNobody() async throws {
        try repository.write("README.md", "Your token is hf_loopback, says the server.\n")
        let result = try await stage.run("info", "org/tiny", with: ["HF_TOKEN": "hf_loopback"])
        #expect(result.status == 0 && result.lines[1].hasPrefix("  Your token is "))
        let kept = try await stage.run("info", "org/tiny", "--offline")
        #expect(kept.lines[1] == result.lines[1])
        #expect(!(result.output + kept.output).contains("hf_loopback"))
    }

    @Test func theCardOfAGatedModelIsNotMissed() async throws {
        try repository.write("README.md", Self.readme)
        try repository.card(["gated": "manual"])
        let result = try await stage.run("info", "org/tiny")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.output.contains("  access      gated (manual)\n"))
    }

    /// With what the catalog mirrors, and without.
    @Test func whenTheHubIsAwayNothingMoreIsAsked() async throws {
        try repository.write("README.md", Self.readme)
        #expect(try await stage.run("search", "tiny").status == 0)
        let away = Stage.away
        let mirrored = try await stage.run("info", "org/tiny", with: away)
        #expect(mirrored.status == 5 && mirrored.lines[0] == "org/tiny")
        #expect(mirrored.lines[1].hasPrefix("  as of       ") && mirrored.lines.contains("  license     mit"))
        let unknown = try await stage.run(
            "info", "org/tiny", with: away.merging(["HUB_HOME": stage.machine("x")]) { $1 })
        #expect(unknown.status == 5 && unknown.output.isEmpty)
        #expect(try await stage.run("info", "org/tiny").lines[1] == "  Tiny is a small model for tests.")
        let known = try await stage.run("info", "org/tiny", with: away)
        #expect(known.status == 5 && known.lines[1] == "  Tiny is a small model for tests.")
    }
}
