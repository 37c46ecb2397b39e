import HubCore
import Support
import Testing

@testable import Fetcher

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Downloads with a decision first, by cost and by headers.
@Suite struct DownloadChoiceTests {
    private let place = try! ManagerPlace()
    private let tiny = ManagerPlace.tiny
    private let model = ModelIdentifier.huggingFace("org/model")
    private struct Refusal: Error {}

    // MARK: Estimates

    @Test func whatIsRefusedIsNotFetched() async throws {
        let manager = place.manager
        let estimates = Monitor<[DownloadEstimate]>([])
        await #expect(throws: CancellationError.self) {
            try await manager.downloadWithEstimation(tiny) { estimate in
                estimates.update { $0.append(estimate) }
                return false
            }
        }
        await #expect(throws: Refusal.self) {
            try await manager.downloadWithEstimation(tiny) { _ in throw Refusal() }
        }
        let estimate = try #require(estimates.update { $0.first })
        #expect(estimate.identifier == tiny)
        #expect((estimate.totalFiles, estimate.filesToFetch) == (4, 4))
        #expect((estimate.totalBytes, estimate.downloadBytes, estimate.neededBytes) == (50_026, 50_026, 50_026))
        #expect((estimate.cachedBytes, estimate.reusableBytes, estimate.partialBytes) == (0, 0, 0))
        #expect(estimate.fits && estimate.freeBytes > 50_026)
        #expect(estimate.estimatedSeconds == nil, "nothing was fetched before")
        #expect(estimate.freeBytesAfter == estimate.freeBytes - 50_026)
        #expect(estimate.memoryBytes == 60_000 && estimate.memoryBasis == .weights)
        #expect(place.contentRequests.isEmpty)
        #expect(!FileSystem.exists(place.folder().path))
        #expect(manager.downloads.active.isEmpty)
    }

    @Test func anEstimateCountsWhatTheCacheHolds() async throws {
        let manager = place.manager
        try ModelRepository("org/copy", in: place.served).random("copy.safetensors", size: 50_000)
        try await manager.download(tiny, patterns: ["*.txt"])
        let gate = place.hub.hold("^GET", after: 30_000, times: nil, on: .cdn)
        let task = try await manager.downloadTask(for: tiny)
        // What has come of config.json counts before it is proven.
        for await now in task.updates where now.bytesDownloaded == 30_026 && now.filesCompleted == 3 { break }
        #expect(try await manager.cancelDownload(tiny))
        place.hub.clearFaults()
        gate.release()
        let tiny = tiny
        let url = try await manager.downloadWithEstimation(tiny) { estimate in
            #expect((estimate.totalFiles, estimate.filesToFetch) == (4, 1))
            #expect((estimate.cachedBytes, estimate.partialBytes) == (26, 30_000))
            #expect(estimate.downloadBytes == 20_000)
            return true
        }
        #expect(try await manager.isCached(tiny))
        #expect(try place.ranges() == [0..<50_000, 30_000..<50_000])
        let again = try await manager.downloadWithEstimation(tiny) { estimate in
            #expect((estimate.cachedBytes, estimate.downloadBytes, estimate.filesToFetch) == (50_026, 0, 0))
            return true
        }
        #expect(again == url)
        try await manager.downloadWithEstimation(.huggingFace("org/copy")) { estimate in
            #expect((estimate.reusableBytes, estimate.downloadBytes, estimate.filesToFetch) == (50_000, 0, 0))
            return true
        }
    }

    /// `config.json` counts if cached; it is not fetched for an estimate.
    @Test func memoryIsTheKitsOwnWhereTheConfigurationIsCached() async throws {
        let repository = try ModelRepository("org/shakespeare", in: place.served)
        for name in ["config.json", "model.safetensors"] {
            try repository.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        let model = ModelIdentifier.huggingFace("org/shakespeare")
        let weights = Int64(try Fixtures.bytes("tiny-shakespeare/model.safetensors").count)
        let manager = place.manager
        func estimate(_ patterns: [String]? = nil) async throws -> DownloadEstimate? {
            let estimates = Monitor<[DownloadEstimate]>([])
            await #expect(throws: CancellationError.self) {
                try await manager.downloadWithEstimation(model, patterns: patterns) { estimate in
                    estimates.update { $0.append(estimate) }
                    return false
                }
            }
            return estimates.update { $0.first }
        }
        #expect(try await estimate()?.memoryBasis == .weights)
        #expect(place.contentRequests.isEmpty)
        let small = try #require(try await estimate(["config.json"]))
        #expect(small.memoryBytes == nil && small.memoryBasis == nil)
        try await manager.download(model, patterns: ["config.json"])
        let known = try #require(try await estimate())
        #expect(known.memoryBasis == .configuration(positions: 512))
        #expect(known.memoryBytes == weights + 512 * 1024 + 256 * 7680)
    }

    @Test func whatWasAgreedToIsFetchedThoughTheBranchMovesOn() async throws {
        let place = place
        try ModelRepository.tiny("org/tiny@old", in: place.served, weights: 50_000)
        let commits = Monitor<[Commit]>([])
        let url = try await place.manager.downloadWithEstimation(tiny) { estimate in
            commits.update { $0.append(estimate.commit) }
            try ModelRepository("org/tiny", in: place.served).write("config.json", "{\"model_type\":\"other\"}")
            return true
        }
        #expect(url.lastPathComponent == commits.update { $0[0].hash })
        #expect(try FileSystem.text(Path.join(url.path, "config.json"))?.contains("tiny") == true)
    }

    @Test func cancellingReachesWhoStillThinksAboutIt() async throws {
        let manager = place.manager
        let tiny = tiny
        let isAsked = Monitor(false)
        let thinking = Task {
            try await manager.downloadWithEstimation(tiny) { _ in
                isAsked.update { $0 = true }
                try await Task.sleep(nanoseconds: 3_600_000_000_000)
                return true
            }
        }
        _ = try await isAsked.value("the question") { $0 ? true : nil }
        #expect(try await manager.cancelDownload(tiny))
        await #expect(throws: CancellationError.self) { try await thinking.value }
        #expect(place.contentRequests.isEmpty)
    }

    // MARK: Headers

    /// A safetensors file: the header's text, then data.
    private static func safetensors(_ header: String, data: Int, length: Int? = nil) -> [UInt8] {
        let count = UInt64(length ?? header.utf8.count)
        return (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + Array(header.utf8)
            + ModelRepository.randomBytes(data, seed: 3)
    }

    private static let sound = #"{"a":{"dtype":"F32","shape":[250,2],"data_offsets":[0,2000]}}"#

    /// A repository with a config.json and what else is given.
    @discardableResult
    private func serve(_ files: [String: [UInt8]], config: String? = #"{"model_type":"llama"}"#) throws
        -> ModelRepository
    {
        let repository = try ModelRepository("org/model", in: place.served)
        if let config { try repository.write("config.json", config) }
        for (name, bytes) in files { try repository.write(name, bytes) }
        return repository
    }

    /// A repository with the files of a fixture.
    private func serve(fixture: String, except: Set<String> = []) throws {
        let repository = try ModelRepository("org/model", in: place.served)
        for name in try #require(try FileSystem.entries(try Fixtures.path(fixture))) where !except.contains(name) {
            try repository.write(name, try Fixtures.bytes("\(fixture)/\(name)"))
        }
    }

    /// What was asked of files whose name ends so, on both servers.
    private func asked(_ suffix: String) -> [LoggedRequest] {
        place.contentRequests.filter { $0.path.hasSuffix(suffix) }
    }

    private func expectNothingFetched() throws {
        #expect(!FileSystem.exists(place.folder("org/model").path))
        #expect(place.hub.requests(".", on: .cdn).allSatisfy { !$0.hasAuthorization })
    }

    @Test(arguments: [
        (safetensors(sound, data: 2000, length: 1 << 40), "limit", ["bytes=0-7"]),
        (safetensors(sound, data: 2000, length: 90_000), "the file has", ["bytes=0-7"]),
        (
            safetensors(sound, data: 2001), "after the last tensor",
            ["bytes=0-7", "bytes=0-\(7 + sound.utf8.count)"]
        ),
        (safetensors(sound, data: 1999), "truncated", ["bytes=0-7", "bytes=0-\(7 + sound.utf8.count)"]),
        (safetensors("[\(sound)]", data: 2000), "brace", ["bytes=0-7", "bytes=0-\(9 + sound.utf8.count)"]),
        ([1, 2, 3], "too short", ["bytes=0-2"]),
    ])
    func aBrokenHeaderIsRefusedBeforeAnyWeightIsFetched(bytes: [UInt8], fault: String, ranges: [String])
        async throws
    {
        try serve(["model.safetensors": bytes])
        let error = await caught { try await place.manager.downloadValidated(model) }
        #expect(error?.code == .malformedModel)
        #expect(error?.message.hasPrefix("org/model/model.safetensors: ") == true)
        #expect(error?.message.contains(fault) == true, "\(error?.message ?? "")")
        #expect(asked("model.safetensors").filter { $0.listener == .cdn }.map(\.range) == ranges)
        #expect(asked("model.safetensors").filter { $0.listener == .hub }.map(\.range) == ranges)
        try expectNothingFetched()
    }

    @Test func aHeaderThatEchoesTheTokenDoesNotShowIt() async throws {
        let header = Self.sound.replacing("F32", with: "hf_loopback")
        try serve(["model.safetensors": Self.safetensors(header, data: 2000)])
        let error = try #require(await caught { try await place.manager.downloadValidated(model) })
        #expect(error.code == .malformedModel && error.message.contains("has the unknown dtype"))
        #expect(!"\(error) \(String(reflecting: error))".contains("hf_loopback"))
    }

    @Test func aSoundModelIsDescribedAndFetched() async throws {
        try serve(fixture: "tiny-shakespeare")
        let heard = Monitor<[ModelHeaders]>([])
        let url = try await place.manager.downloadValidated(model) { headers in
            heard.update { $0.append(headers) }
        }
        let headers = try #require(heard.update { $0.first })
        #expect(headers.identifier == model && headers.commit.hash == url.lastPathComponent)
        #expect(headers.modelType == "llama" && headers.architectures == ["LlamaForCausalLM"])
        #expect(headers.quantization == nil && headers.contextLength == 512)
        #expect(headers.weights.map(\.path) == ["model.safetensors"] && headers.unreadWeights.isEmpty)
        #expect(headers.weights[0].format == "safetensors" && headers.weights[0].size == 2_234_592)
        #expect(headers.weights[0].dataTypes == ["BF16": 1_115_264])
        #expect(headers.weightsBytes == 2_234_592)
        #expect(try await place.manager.isCached(model))
        // Of a model that is here nothing is asked for.
        let before = place.contentRequests.count
        #expect(try await place.manager.downloadValidated(model) == url)
        #expect(try await place.offline.downloadValidated(model) == url)
        #expect(place.contentRequests.count == before)
    }

    @Test func whatTheCallerCannotUseIsRefused() async throws {
        try serve(fixture: "tiny-shakespeare-mlx-4bit")
        await #expect(throws: Refusal.self) {
            try await place.manager.downloadValidated(model) { headers in
                if headers.quantization != nil { throw Refusal() }
            }
        }
        #expect(asked("model.safetensors").allSatisfy { $0.range != nil })
        #expect(asked("tokenizer.json").isEmpty)
        try expectNothingFetched()
    }

    @Test func shardsAreHeldAgainstTheirIndex() async throws {
        try serve(fixture: "tiny-shakespeare-sharded")
        let heard = Monitor<[ModelHeaders]>([])
        try await place.manager.downloadValidated(model) { headers in heard.update { $0.append(headers) } }
        let headers = try #require(heard.update { $0.first })
        #expect(headers.weights.count == 2 && headers.weightsBytes == 1_248_256 + 986_336)
    }

    @Test func anIndexThatDisagreesIsRefused() async throws {
        try serve(fixture: "tiny-shakespeare-sharded")
        let name = "model.safetensors.index.json"
        let text = String(decoding: try Fixtures.bytes("tiny-shakespeare-sharded/\(name)"), as: UTF8.self)
        let swapped = text.replacing("00001-of", with: "0000X-of").replacing("00002-of", with: "00001-of")
            .replacing(
                "0000X-of", with: "00002-of")
        try ModelRepository("org/model", in: place.served).write(name, swapped)
        let error = await caught { try await place.manager.downloadValidated(model) }
        #expect(error?.code == .malformedModel && error?.message.contains("the index has tensor") == true)
        try expectNothingFetched()
        // The index is not checked for part of the shards.
        #expect(
            await errorCode {
                try await place.manager.downloadValidated(
                    model, patterns: ["*.json", "*-00001-of-00002.safetensors"])
            } == nil)
    }

    @Test func anIndexOfAShardThatIsNotThereIsRefused() async throws {
        try serve(fixture: "tiny-shakespeare-sharded", except: ["model-00002-of-00002.safetensors"])
        let error = await caught { try await place.manager.downloadValidated(model) }
        #expect(error?.code == .malformedModel)
        #expect(error?.message.contains("does not have model-00002-of-00002.safetensors") == true)
        try expectNothingFetched()
    }

    @Test func ofGGUFTheBeginningIsRead() async throws {
        try serve(fixture: "tiny-shakespeare-gguf")
        let heard = Monitor<[ModelHeaders]>([])
        try await place.manager.downloadValidated(model, patterns: ["*q4_0*"]) { headers in
            heard.update { $0.append(headers) }
        }
        let headers = try #require(heard.update { $0.first })
        #expect(headers.weights.map(\.format) == ["GGUF"] && headers.weights[0].tensorCount > 10)
        #expect(headers.modelType == nil)
        #expect(asked("model-f16.gguf").isEmpty)
        #expect(try place.ranges().first == 0..<24)
    }

    @Test(arguments: [
        (
            ["model.gguf": Array("GGML".utf8) + [UInt8](repeating: 0, count: 60)], ErrorCode.malformedModel,
            "model.gguf"
        ),
        (["pytorch_model.bin": [UInt8](repeating: 1, count: 60)], .unsupportedModel, "pytorch_model.bin"),
        (["notes.txt": [65]], .unsupportedModel, "no weights"),
    ])
    func whatCannotBeReadIsRefusedByName(files: [String: [UInt8]], code: ErrorCode, name: String) async throws {
        try serve(files)
        let error = await caught { try await place.manager.downloadValidated(model) }
        #expect(error?.code == code)
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        try expectNothingFetched()
    }

    @Test(
        arguments: [
            (nil, ErrorCode.unsupportedModel, "config.json"), ("{", .malformedModel, "not JSON"),
            ("{}", .malformedModel, "model_type"),
            (#"{"model_type":"llama","hidden_size":-1}"#, .malformedModel, "hidden_size"),
        ] as [(String?, ErrorCode, String)])
    func aConfigurationThatIsBrokenOrMissingIsRefused(config: String?, code: ErrorCode, fault: String) async throws
    {
        try serve(["model.safetensors": Self.safetensors(Self.sound, data: 2000)], config: config)
        let error = await caught { try await place.manager.downloadValidated(model) }
        #expect(error?.code == code)
        #expect(error?.message.contains(fault) == true, "\(error?.message ?? "")")
        #expect(asked("model.safetensors").isEmpty, "the small file decides first")
        try expectNothingFetched()
    }

    @Test func aConfigurationThatIsNotTheHubsIsRefused() async throws {
        try serve(["model.safetensors": Self.safetensors(Self.sound, data: 2000)])
        place.hub.fail("config.json", .corrupt(at: 3), times: nil)
        #expect(await errorCode { try await place.manager.downloadValidated(model) } == .digestMismatch)
        try expectNothingFetched()
    }

    @Test func aServerWithoutRangesIsReadNoFurtherThanNeeded() async throws {
        try serve(["model.safetensors": Self.safetensors(Self.sound, data: 2001)])
        place.hub.fail("model.safetensors", .noRange, times: nil)
        #expect(await errorCode { try await place.manager.downloadValidated(model) } == .malformedModel)
        // More than any buffer on the way holds: the answer must have been cut off.
        let size = 64 << 20
        let repository = try ModelRepository("org/large", in: place.served)
        try repository.write("config.json", #"{"model_type":"llama"}"#)
        try repository.sparse("model.safetensors", size: Int64(size))
        #expect(
            await errorCode { try await place.manager.downloadValidated(.huggingFace("org/large")) }
                == .malformedModel)
        let answers = place.hub.requests("org/large/model.safetensors", on: .cdn)
        #expect(answers.count == 1)
        try await place.hub.waitForLog("the end of the answer") { log in
            log.contains { $0.listener == .cdn && $0.matches("org/large") && $0.isFinished }
        }
        #expect(place.hub.requests("org/large/model.safetensors", on: .cdn).allSatisfy { $0.bytesSent < size })
    }

    /// Headers are read where a box on the way spoils ranges, or compresses: by what Content-Range says, or from the start.
    @Test(arguments: [
        Fault.Kind.shiftedRange(by: 1000), .shortRange(700), .noContentRange, .rangeWithStatus200, .gzip, .noRange,
    ])
    func headersAreReadThroughABoxThatSpoilsRanges(_ kind: Fault.Kind) async throws {
        try serve(["model.safetensors": Self.safetensors(Self.sound, data: 2001)])
        place.hub.fail("model.safetensors", kind, times: nil, on: .cdn)
        // It is the header that is wrong, and that was seen.
        #expect(await errorCode { try await place.manager.downloadValidated(model) } == .malformedModel)
        try expectNothingFetched()
    }

    @Test func aBrokenConnectionIsTriedAgain() async throws {
        try serve(["model.safetensors": Self.safetensors(Self.sound, data: 2000)])
        place.hub.fail("model.safetensors", .truncate(by: 5), times: 2, on: .cdn)
        #expect(await errorCode { try await place.manager.downloadValidated(model) } == nil)
    }
}
