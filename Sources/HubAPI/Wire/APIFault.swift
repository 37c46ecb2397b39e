import HubCore
import HubServer
import InferenceKit

/// Why a request is refused or fails, in a form that both protocols can write.
struct APIFault: Error {
    var status: Int
    var message: String
    /// OpenAI's class of errors.
    var type: String
    /// The field of the request that is at fault.
    var param: String?
    var code: String?
    var headers: HTTPHeaders = [:]

    static func invalid(_ message: String, param: String? = nil, code: String? = nil) -> APIFault {
        APIFault(status: 400, message: message, type: "invalid_request_error", param: param, code: code)
    }

    /// A prompt that the model's context has no room for. Clients look for these words and the code, and send less.
    static func tooLong(_ tokens: (prompt: Int, most: Int)?, _ message: String) -> APIFault {
        let message =
            tokens.map {
                "This model's maximum context length is \($0.most) tokens, but the prompt has \($0.prompt) tokens; --context of hub serve sets it"
            } ?? message
        return .invalid(message, code: "context_length_exceeded")
    }

    static func noModel(_ name: String) -> APIFault {
        APIFault(
            status: 404, message: "model '\(name.printable)' not found", type: "not_found_error", param: "model",
            code: "model_not_found")
    }

    static let noPage = APIFault(status: 404, message: "there is no such address here", type: "not_found_error")

    /// What no model here can do yet.
    static func notSupported(_ what: String) -> APIFault {
        APIFault(status: 501, message: what, type: "not_supported_error")
    }

    /// - Parameter seconds: after which another try may succeed.
    static func busy(_ message: String, seconds: Int) -> APIFault {
        APIFault(
            status: 503, message: message, type: "server_error", code: "overloaded",
            headers: ["Retry-After": String(seconds)])
    }

    static func refused(_ status: Int, _ message: String, code: String? = nil) -> APIFault {
        var fault = APIFault(status: status, message: message, type: "authentication_error", code: code)
        if status == 401 { fault.headers["WWW-Authenticate"] = "Bearer" }
        return fault
    }
}

extension APIFault {
    /// - Parameter place: the path of the model at work and its name: clients hear of names, not of folders.
    init(_ error: any Error, at place: (path: String, name: String)? = nil) {
        if let fault = error as? APIFault {
            self = fault
            return
        }
        let error = AIError.wrapping(error)
        if let fault = error.cause as? APIFault {
            self = fault
            return
        }
        var message = error.message
        if let advice = error.specificAdvice { message += "; \(advice)" }
        if let place { message = message.replacing(place.path, with: place.name) }
        if let path = error.context.path { message = message.replacing(path, with: Path.name(path)) }
        switch error.code {
        case .invalidInput, .unreadableFile: self = .invalid(message)
        case .contextFull:
            let numbers = error.cause as? FullContext
            self = .tooLong(numbers.map { ($0.promptTokens, $0.contextTokens) }, message)
        case .notCached, .repositoryNotFound, .revisionNotFound, .fileNotFound, .nothingMatches:
            self = APIFault(status: 404, message: message, type: "not_found_error")
        // Clients must not try these again.
        case .unsupportedModel, .malformedModel: self = .invalid(message, param: "model", code: error.code.rawValue)
        case .insufficientMemory: self = .busy(message, seconds: 30)
        case .offline:
            self = APIFault(status: 503, message: message, type: "server_error", code: error.code.rawValue)
        case .unauthorized, .gated, .forbidden:
            self = APIFault(status: 403, message: message, type: "permission_error")
        default: self = APIFault(status: 500, message: message, type: "server_error", code: error.code.rawValue)
        }
    }

    /// OpenAI's document.
    var openAI: JSON {
        .object([
            "error": .object([
                "message": .string(message), "type": .string(type), "param": param.map { .string($0) } ?? .null,
                "code": code.map { .string($0) } ?? .null,
            ])
        ])
    }

    /// Ollama's document.
    var ollama: JSON { .object(["error": .string(message)]) }
}

/// The two protocols.
enum Dialect: Sendable {
    case openAI, ollama

    func document(_ fault: APIFault) -> JSON { self == .openAI ? fault.openAI : fault.ollama }
    func response(_ fault: APIFault) -> HTTPResponse {
        .json(document(fault), status: fault.status, headers: fault.headers)
    }
}
