#if os(Linux)
import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub` where threads, memory or descriptors are wanting.
@Suite struct ScarcityTests {
    private let stage: Stage

    init() throws {
        // A sanitizer reserves terabytes.
        guard Sanitizer.options.isEmpty else { try Test.cancel("not under a sanitizer") }
        stage = try Stage()
        let repository = try ModelRepository("org/m", in: stage.root)
        for number in 0..<30 { try repository.write("\(number).txt", "file \(number)\n") }
        for number in 0..<4 { try repository.random("w\(number).bin", size: 5 << 20, seed: UInt64(number)) }
    }

    private func run(_ limit: String, _ words: String) async throws -> ProcessResult {
        try await stage.shell("ulimit \(limit); exec \"$hub\" \(words)").wait()
    }

    /// The stacks of as many threads as a machine without limits has do not fit.
    @Test func aSmallAddressSpaceMeansFewerThreads() async throws {
        for words in ["pull -q org/m", "verify --full", "ls", "search m", "gc --unused-for 0d --yes"] {
            let result = try await run("-v 400000", words)
            #expect(result.status == 0, "\(words): \(result.error)")
        }
    }

    @Test func tooSmallAnAddressSpaceIsAnErrorAndNoCrash() async throws {
        let result = try await run("-v 130000", "pull org/m")
        #expect(result.status == 6)
        #expect(result.error.contains("the limit on address space is 133 MB"))
        #expect(result.error.contains("ulimit -v"))
    }

    /// The network has nothing to do with it.
    @Test(arguments: [4, 6, 8, 10]) func tooFewDescriptorsAreCalledThat(_ count: Int) async throws {
        let result = try await run("-n \(count)", "pull org/m")
        #expect(result.status == 6, "\(result.error)")
        #expect(!result.wasKilled && result.error.contains("Too many open files"))
        #expect(!result.error.contains("cannot be reached"))
    }
}
#endif
