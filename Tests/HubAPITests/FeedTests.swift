import HubCore
import HubServer
import Support
import Testing

@testable import HubAPI

/// Answers that are sent while they are made.
@Suite struct FeedTests {
    /// What a connection's thread reads of a feed, up to its end or until `enough`.
    private func read(_ feed: Feed, until enough: @escaping @Sendable (String) -> Bool = { _ in false })
        async throws
        -> (text: String, end: BodyStep)
    {
        try await Thread.run {
            var (bytes, end) = ([UInt8](), BodyStep.end)
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
                while true {
                    guard case .bytes(let count) = feed.produce(into: buffer, at: Int64(bytes.count)) else { break }
                    bytes += buffer[..<count]
                    end = .bytes(count)
                    if enough(String(decoding: bytes, as: UTF8.self)) { return }
                    end = .end
                }
            }
            return (String(decoding: bytes, as: UTF8.self), end)
        }
    }

    private struct Broken: Error {}

    @Test func anErrorBeforeTheFirstByteIsAStatus() async throws {
        let feed = Feed(.events, .openAI, client: nil)
        feed.write { _ in throw APIFault.busy("full", seconds: 3) }
        let fault = try await Thread.run {
            do throws(APIFault) {
                _ = try feed.response(patience: nil)
                return APIFault?.none
            } catch { return error }
        }
        #expect(fault?.status == 503 && fault?.headers["Retry-After"] == "3")
    }

    /// An answer that breaks off must not look like a whole one: it has an error, and no mark of its end.
    @Test(arguments: [(Feed.Form.events, Dialect.openAI), (.lines, .ollama)])
    func anErrorBehindTheFirstByteIsAPartOfTheBody(form: Feed.Form, dialect: Dialect) async throws {
        let feed = Feed(form, dialect, client: nil)
        feed.write { feed in
            feed.send(.object(["done": false]))
            throw AIError(.generationFailed, "the engine died")
        }
        let (text, end) = try await read(feed)
        #expect(end == .end && text.contains("the engine died") && !text.contains("[DONE]"))
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[1].hasPrefix(form == .events ? #"data: {"error":{"# : #"{"error":"the"#))
    }

    /// While nothing comes, comments keep those who wait; a reader of lines would break on them.
    @Test func silenceIsFilledWithComments() async throws {
        let feed = Feed(.events, .openAI, client: nil, silence: 0)
        let gate = Monitor(false)
        feed.write { feed in
            _ = try await gate.value("the gate") { $0 ? true : nil }
            feed.sendDone()
        }
        let (text, _) = try await read(feed) { $0.contains("\n\n") }
        #expect(text.hasPrefix(": "))
        gate.update { $0 = true }
        #expect(try await read(feed).text.hasSuffix("data: [DONE]\n\n"))
    }

    @Test func leavingEndsTheWork() async throws {
        let feed = Feed(.lines, .ollama, client: nil)
        let isCancelled = Monitor(false)
        feed.write { feed in
            feed.send(.object([:]))
            while !Task.isCancelled { await Task.yield() }
            isCancelled.update { $0 = true }
        }
        _ = try await read(feed) { $0.contains("\n") }
        feed.finished()
        _ = try await isCancelled.value("the work ended") { $0 ? true : nil }
    }

    @Test(arguments: [
        (JSON.int(0), 0.0), (.int(300), 300), (.double(1.5), 1.5), (.string("10m"), 600), (.string("1h30m"), 5400),
        (.string("250ms"), 0.25), (.string("42"), 42), (.string("0"), 0),
    ]) func timesAsOllamaWritesThem(json: JSON, seconds: Double) throws {
        #expect(try KeepAlive(json, field: "keep_alive").seconds == seconds)
    }

    @Test(arguments: [JSON.int(-1), .string("-1"), .string("-5m"), .double(1e300)]) func negativeIsForEver(
        json: JSON
    ) throws {
        #expect(try KeepAlive(json, field: "keep_alive").seconds == nil)
    }

    @Test(arguments: [JSON.string("soon"), .string(""), .string("5 m"), .bool(true)])
    func otherTimesAreRefused(json: JSON) {
        #expect(throws: APIFault.self) { try KeepAlive(json, field: "keep_alive") }
    }
}
