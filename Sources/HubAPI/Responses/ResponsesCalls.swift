import HubCore
import HubServer
import InferenceKit

/// `/v1/responses`
struct ResponsesCalls: Sendable {
    let calls: OpenAICalls

    func respond(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let asked = try ResponsesRequest(try Fields(request))
        let (shelf, runner) = (calls.shelf, calls.runner)
        @Sendable func run(_ answer: ResponsesAnswer) async throws -> JSON {
            let turn = asked.chat.turn(try await shelf.model(asked.chat.model))
            let isFirst = Lock(true)
            let results = try await runner.run(turn) { _, _, chunk in
                // Until there is a token an error is a status.
                let begins = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if begins { answer.begin() }
                answer.take(chunk)
            }
            return answer.end(results[0])
        }
        guard asked.chat.isStream else {
            return try Whole.answer(for: request) { .json(try await run(ResponsesAnswer(asked, feed: nil))) }
        }
        return try calls.stream(request) { feed in _ = try await run(ResponsesAnswer(asked, feed: feed)) }
    }
}
