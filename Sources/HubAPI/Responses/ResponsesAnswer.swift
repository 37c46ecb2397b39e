import HubCore
import InferenceKit

/// An answer of the Responses protocol, as a document and as events.
final class ResponsesAnswer: Sendable {
    private enum Kind { case reasoning, message }

    private struct State {
        var sequence = 0
        /// Items that are complete.
        var output: [JSON] = []
        /// The item that is being written, its id and its text so far.
        var open: (kind: Kind, id: String, text: String)?
        var reasoningTokens = 0
    }

    private let request: ResponsesRequest
    private let id = AnswerParts.id("resp")
    private let created = Int64(Timestamp.now)
    private let state = Lock(State())
    /// Where events go; nil for an answer in one piece.
    private let feed: Feed?

    init(_ request: ResponsesRequest, feed: Feed?) { (self.request, self.feed) = (request, feed) }

    // MARK: The answer's life

    func begin() {
        state.withLock { state in
            send("response.created", ["response": response(&state, "in_progress")], &state)
            send("response.in_progress", ["response": response(&state, "in_progress")], &state)
        }
    }

    func take(_ chunk: GenerationChunk) {
        state.withLock { state in
            if !chunk.reasoning.isEmpty {
                state.reasoningTokens += 1
                write(chunk.reasoning, .reasoning, &state)
            }
            if !chunk.text.isEmpty { write(chunk.text, .message, &state) }
        }
    }

    /// The whole answer.
    func end(_ result: GenerationResult) -> JSON {
        state.withLock { state in
            let calls = request.chat.isOneCall ? Array(result.toolCalls.prefix(1)) : result.toolCalls
            // An answer without a word has a message all the same.
            if state.open == nil, state.output.isEmpty, calls.isEmpty { open(.message, &state) }
            close(&state)
            for call in calls { add(call, &state) }
            let isCut = result.finishReason == .length
            let whole = response(&state, isCut ? "incomplete" : "completed", result)
            send(isCut ? "response.incomplete" : "response.completed", ["response": whole], &state)
            return whole
        }
    }

    // MARK: Items

    private func write(_ text: String, _ kind: Kind, _ state: inout State) {
        if state.open?.kind != kind {
            close(&state)
            open(kind, &state)
        }
        state.open?.text += text
        var event = place(&state)
        event["delta"] = .string(text)
        if kind == .message { event["logprobs"] = .array([]) }
        send(kind == .message ? "response.output_text.delta" : "response.reasoning_text.delta", event, &state)
    }

    private func open(_ kind: Kind, _ state: inout State) {
        state.open = (kind, AnswerParts.id(kind == .message ? "msg" : "rs"), "")
        let item = item(&state, status: "in_progress")
        send("response.output_item.added", ["output_index": index(state), "item": item], &state)
        guard kind == .message else { return }
        var event = place(&state)
        event["part"] = Self.part("")
        send("response.content_part.added", event, &state)
    }

    private func close(_ state: inout State) {
        guard let open = state.open else { return }
        var event = place(&state)
        event["text"] = .string(open.text)
        if open.kind == .message {
            event["logprobs"] = .array([])
            send("response.output_text.done", event, &state)
            var part = place(&state)
            part["part"] = Self.part(open.text)
            send("response.content_part.done", part, &state)
        } else {
            send("response.reasoning_text.done", event, &state)
        }
        let item = item(&state, status: "completed")
        send("response.output_item.done", ["output_index": index(state), "item": item], &state)
        state.output.append(item)
        state.open = nil
    }

    private func add(_ call: GeneratedToolCall, _ state: inout State) {
        let id = AnswerParts.id("fc")
        func item(_ arguments: String, _ status: String) -> JSON {
            .object([
                "type": "function_call", "id": .string(id), "call_id": .string(call.id ?? id),
                "name": .string(call.name), "arguments": .string(arguments), "status": .string(status),
            ])
        }
        let place: JSONObject = ["item_id": .string(id), "output_index": index(state)]
        send(
            "response.output_item.added", ["output_index": index(state), "item": item("", "in_progress")], &state)
        var delta = place
        delta["delta"] = .string(call.arguments)
        send("response.function_call_arguments.delta", delta, &state)
        var done = place
        (done["name"], done["arguments"]) = (.string(call.name), .string(call.arguments))
        send("response.function_call_arguments.done", done, &state)
        let whole = item(call.arguments, "completed")
        send("response.output_item.done", ["output_index": index(state), "item": whole], &state)
        state.output.append(whole)
    }

    private func item(_ state: inout State, status: String) -> JSON {
        guard let open = state.open else { return .null }
        let isWhole = status == "completed"
        switch open.kind {
        case .message:
            return .object([
                "type": "message", "id": .string(open.id), "role": "assistant", "status": .string(status),
                "content": .array(isWhole ? [Self.part(open.text)] : []),
            ])
        case .reasoning:
            let text = JSON.object(["type": "reasoning_text", "text": .string(open.text)])
            return .object([
                "type": "reasoning", "id": .string(open.id), "summary": .array([]),
                "content": .array(isWhole ? [text] : []), "status": .string(status),
            ])
        }
    }

    private static func part(_ text: String) -> JSON {
        .object([
            "type": "output_text", "text": .string(text), "annotations": .array([]), "logprobs": .array([]),
        ])
    }

    private func index(_ state: State) -> JSON { .int(Int64(state.output.count)) }

    private func place(_ state: inout State) -> JSONObject {
        ["item_id": .string(state.open?.id ?? ""), "output_index": index(state), "content_index": 0]
    }

    // MARK: Documents

    private func response(_ state: inout State, _ status: String, _ result: GenerationResult? = nil) -> JSON {
        var response: JSONObject = [
            "id": .string(id), "object": "response", "created_at": .int(created), "status": .string(status),
            "error": .null,
            "incomplete_details": status == "incomplete"
                ? .object(["reason": "max_output_tokens"]) : .null,
            "model": .string(request.chat.model), "output": .array(state.output),
        ]
        for (key, value) in request.repeated.members { response[key] = value }
        guard let result else { return .object(response) }
        let (input, output) = (Int64(result.promptIDs.count), Int64(result.ids.count))
        response["usage"] = .object([
            "input_tokens": .int(input),
            "input_tokens_details": .object(["cached_tokens": .int(Int64(result.cachedTokens))]),
            "output_tokens": .int(output),
            "output_tokens_details": .object(["reasoning_tokens": .int(Int64(state.reasoningTokens))]),
            "total_tokens": .int(input + output),
        ])
        return .object(response)
    }

    private func send(_ type: String, _ members: JSONObject, _ state: inout State) {
        guard let feed else { return }
        var event: JSONObject = ["type": .string(type), "sequence_number": .int(Int64(state.sequence))]
        for (key, value) in members.members { event[key] = value }
        state.sequence += 1
        feed.send(.object(event), event: type)
    }
}
