package import HubChatTemplates
package import HubCore
package import HubServer
package import InferenceKit

/// What the page of the same server asks for a turn of a conversation with: the fields of a chat completion, and others
/// that are the page's own.
package struct ConversationRequest: Sendable {
    package let model: String
    package let format: ResponseFormat?
    package let config: GenerateConfig
    /// All of its fields.
    package let fields: JSONObject

    init(_ fields: Fields) throws(APIFault) {
        let asked = try ChatRequest(fields)
        guard asked.options.tools.isEmpty else {
            throw .invalid("the tools are those that the server was started with", param: "tools")
        }
        (model, format, config) = (asked.model, asked.options.responseFormat, asked.config)
        self.fields = fields.object
    }
}

extension APIRoom {
    /// Answers with the events of a turn, which somebody else in this process holds. It checks nobody: who calls this has.
    ///
    /// - Parameter body: gets what was asked for, and what sends an event.
    package func converse(
        _ request: HTTPRequest,
        _ body: @escaping @Sendable (ConversationRequest, @escaping @Sendable (JSON) -> Void) async throws -> Void
    ) -> HTTPResponse {
        do throws(APIFault) {
            let asked = try ConversationRequest(try Fields(request))
            return try calls.stream(request) { feed in
                try await body(asked) { feed.send($0) }
                feed.sendDone()
            }
        } catch { return Dialect.openAI.response(error) }
    }

    /// A model of this machine for a conversation.
    ///
    /// - Throws: an error that a response says as the API does.
    package func sharedModel(_ name: String) async throws -> SharedModel {
        SharedModel(try await calls.shelf.model(name), calls.runner)
    }

    /// Messages as OpenAI's protocol writes them.
    ///
    /// - Throws: ``ErrorCode/invalidInput``.
    package static func messages(_ list: [JSON]) throws(AIError) -> [Message] {
        do throws(APIFault) { return try ReadMessages.messages(list) } catch {
            throw AIError(.invalidInput, error.message, cause: error)
        }
    }
}
