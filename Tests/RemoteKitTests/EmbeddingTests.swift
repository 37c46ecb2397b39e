import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Trap 20: vectors in every shape.
@Suite struct EmbeddingTests {
    private func vectors(_ texts: [String], _ answer: String) async throws -> [[Float]] {
        try await RemotePlace { _ in .json(answer) }.compatible().embed(texts).map(\.vector)
    }

    @Test(arguments: [
        "[1,2]", "[[1,2]]", "[[[1,2]]]", "[[[[1.0,2.0]]]]", #"{"data":[{"index":0,"embedding":[1,2]}]}"#,
        #"{"data":[{"embedding":[1,2]}]}"#, #"{"data":[{"index":0,"embedding":"AACAPwAAAEA="}]}"#,
        #"{"data":[{"index":0,"embedding":[[1,2]]}]}"#, #"{"embeddings":[[1,2]]}"#,
    ])
    func oneTextIsReadInEveryShape(_ answer: String) async throws {
        #expect(try await vectors(["a"], answer) == [[1, 2]])
    }

    @Test func theOrderIsThatOfTheIndex() async throws {
        let answer =
            #"{"data":[{"index":2,"embedding":[3]},{"index":0,"embedding":[1]},{"index":1,"embedding":[2]}]}"#
        #expect(try await vectors(["a", "b", "c"], answer) == [[1], [2], [3]])
    }

    @Test(arguments: [
        (["a", "b"], "[[1,2]]", "1 vectors for 2 texts"), (["a"], "[[1,2],[3,4]]", "for each token"),
        (["a", "b"], "[[[1,2],[3,4]],[[1,2]]]", "for each token"), (["a"], "[[1,NaN]]", "NaN"),
        (["a"], "[[1,null]]", "NaN"), (["a"], "[[1,Infinity]]", "NaN"), (["a"], "[[]]", "not a vector"),
        (["a"], "{}", "no vectors"), (["a", "b"], "[[1],[1,2]]", "different lengths"),
        (["a"], #"{"data":[{"embedding":"AACA"}]}"#, "base64"),
        (["a"], #"{"data":[{"embedding":"AADAfw=="}]}"#, "NaN"),
        (
            ["a", "b"], #"{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}"#,
            "numbers its vectors"
        ),
        (["a"], #"{"data":[{"index":5,"embedding":[1]}]}"#, "numbers its vectors"), (["a"], "<html>", "web page"),
        (["a"], #"{"error":"no"}"#, "no"),
    ])
    func whatIsNoVectorIsAClearError(_ texts: [String], _ answer: String, _ words: String) async throws {
        let error = await fault { try await vectors(texts, answer) }
        #expect(error?.message.contains(words) == true)
    }

    /// A document may need many times the memory of its text.
    @Test func anAnswerOfTooManyValuesIsAnError() async throws {
        let answer = "[" + String(repeating: "{},", count: 1_200_000) + "{}]"
        let error = await fault { try await vectors(["a"], answer) }
        #expect(error?.code == .protocolViolation && error?.message.contains("too many values") == true)
    }

    @Test func manyTextsAreSentInBatches() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let texts = (0..<33).map { String(repeating: "x", count: $0 + 1) }
        let vectors = try await place.hub("org/embed:hf-inference").embed(texts)
        #expect(vectors.map { $0.vector[0] } == (1...33).map(Float.init))
        #expect(place.server.requests.map { $0.json["inputs"]?.array?.count } == [32, 1])
        #expect(place.server.requests[0].path == "/hf-inference/models/org/embed/pipeline/feature-extraction")
        #expect(place.server.requests[0].json.object?.keys == ["inputs"])
        let long = try RemotePlace { HonestRouter().answer($0) }
        _ = try await long.compatible().embed([
            String(repeating: "x", count: 900_000), String(repeating: "y", count: 900_000),
        ])
        #expect(long.server.requests.count == 2)
    }

    @Test func aBatchThatIsTooLargeIsHalved() async throws {
        let place = try RemotePlace { request in
            (request.json["input"]?.array?.count ?? 0) > 3
                ? .json(#"{"error":"batch size","error_type":"Validation"}"#, status: 413)
                : HonestRouter().answer(request)
        }
        let vectors = try await place.compatible().embed((1...10).map { String(repeating: "x", count: $0) })
        #expect(vectors.map { $0.vector[0] } == (1...10).map(Float.init))
        let one = try RemotePlace { _ in .json(#"{"error":"too long"}"#, status: 413) }
        let error = await fault { try await one.compatible().embed(["a"]) }
        #expect(error?.code == .requestTooLarge && one.server.requests.count == 1)
    }

    @Test func optionsAreSentOrRefused() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let options = EmbeddingOptions(promptName: "query", dimensions: 3, normalizes: true)
        let vector = try await place.hub("org/embed:hf-inference").embed(["abc"], options: options)[0].vector
        #expect(abs(vector.reduce(0) { $0 + $1 * $1 } - 1) < 1e-5)
        let sent = place.server.requests[0].json
        #expect(
            sent["prompt_name"]?.string == "query" && sent["dimensions"]?.int == 3
                && sent["normalize"]?.bool == true)
        let error = await fault {
            try await place.compatible().embed(["a"], options: EmbeddingOptions(promptName: "query"))
        }
        #expect(error?.code == .invalidInput)
        #expect(await fault { try await place.compatible().embed(["a", ""]) }?.code == .invalidInput)
        #expect(try await place.compatible().embed([]).isEmpty && place.server.requests.count == 1)
    }
}
