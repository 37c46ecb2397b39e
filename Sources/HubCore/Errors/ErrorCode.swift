/// The groups of error codes.
public enum ErrorCategory: String, Sendable, Hashable {
    /// A model cannot be used as asked: unsupported, malformed, damaged.
    case provider
    /// A forward pass or text generation failed.
    case generation
    /// The Hub or the network.
    case network
    /// This machine: space, permissions, the catalog.
    case resource
    /// The request is wrong or its target does not exist.
    case input
}

/// The kinds of faults. The raw value is what `--json` prints; ``facts`` is the one table behind exit statuses,
/// categories and advice.
public enum ErrorCode: String, Sendable, Hashable, CaseIterable {
    case invalidInput = "invalid_input"
    case contextFull = "context_full"
    case confirmationRequired = "confirmation_required"
    case repositoryNotFound = "repository_not_found"
    case revisionNotFound = "revision_not_found"
    case fileNotFound = "file_not_found"
    case nothingMatches = "nothing_matches"
    case notCached = "not_cached"
    case modelNotServed = "model_not_served"
    case modelRetired = "model_retired"
    case unauthorized
    case gated
    case disabled
    case paymentRequired = "payment_required"
    case forbidden
    case unreachable
    case timedOut = "timed_out"
    case connectionLost = "connection_lost"
    case rateLimited = "rate_limited"
    case serverError = "server_error"
    case serviceUnavailable = "service_unavailable"
    case gatewayTimedOut = "gateway_timed_out"
    case requestTooLarge = "request_too_large"
    case requestRejected = "request_rejected"
    case streamInterrupted = "stream_interrupted"
    case protocolViolation = "protocol_violation"
    case offline
    case diskFull = "disk_full"
    case permissionDenied = "permission_denied"
    case ioError = "io_error"
    case catalogUnusable = "catalog_unusable"
    case insufficientMemory = "insufficient_memory"
    case digestMismatch = "digest_mismatch"
    case fileChanged = "file_changed"
    case malformedModel = "malformed_model"
    case unsupportedModel = "unsupported_model"
    case unreadableFile = "unreadable_file"
    case generationFailed = "generation_failed"
    case cancelled

    /// The properties of a code.
    public struct Facts: Sendable, Hashable {
        /// The group.
        public var category: ErrorCategory
        /// The process exit status, as `hub help exit-codes` lists them.
        public var exitStatus: Int32
        /// Whether the same call may succeed later.
        public var isRetryable: Bool
        /// General advice, one sentence without a full stop; nil if it depends on the case.
        public var advice: String?
    }

    /// The table's row of this code.
    public var facts: Facts {
        func row(_ category: ErrorCategory, _ exit: Int32, retry: Bool = false, _ advice: String? = nil) -> Facts {
            Facts(category: category, exitStatus: exit, isRetryable: retry, advice: advice)
        }
        switch self {
        case .invalidInput: return row(.input, 2)
        case .contextFull: return row(.input, 2, "begin a new conversation, or allow a longer context")
        case .confirmationRequired: return row(.input, 2, "add --yes to go ahead")
        case .repositoryNotFound:
            return row(
                .input, 3, "check the spelling; a private repository looks the same to someone without a token")
        case .revisionNotFound: return row(.input, 3, "hub info REF shows the branches and tags there are")
        case .fileNotFound: return row(.input, 3)
        case .nothingMatches: return row(.input, 3)
        case .notCached: return row(.input, 3, "hub ls shows what is cached")
        case .modelNotServed:
            return row(.input, 3, "the model's page shows who serves it; hub try runs it on this machine")
        case .modelRetired: return row(.input, 3, "its provider has withdrawn this model; choose another")
        case .unauthorized:
            return row(.network, 4, "hub auth whoami shows whose token is in use; hub auth login saves another")
        case .gated:
            return row(.network, 4, "ask for access on the model's page, and give hub a token: hub auth login")
        case .disabled: return row(.network, 4, "the Hub has switched this repository off")
        case .paymentRequired:
            return row(
                .network, 4, "buy credits or wait for the next month: https://huggingface.co/settings/billing")
        case .forbidden: return row(.network, 4, "the token lacks a permission; hub auth whoami shows whose it is")
        case .unreachable:
            return row(.network, 5, retry: true, "check the network, the proxy variables and HF_ENDPOINT")
        case .timedOut: return row(.network, 5, retry: true, "try again; what was fetched is kept")
        case .connectionLost: return row(.network, 5, retry: true, "try again; what was fetched is kept")
        case .rateLimited: return row(.network, 5, retry: true, "wait a few minutes; a token raises the limit")
        case .serverError: return row(.network, 5, retry: true, "this is a server error; try again later")
        case .serviceUnavailable:
            return row(.network, 5, retry: true, "the model is loading or overloaded; try again later")
        case .gatewayTimedOut: return row(.network, 5, retry: true, "ask for a shorter answer, or stream it")
        case .requestTooLarge: return row(.network, 5, "send less at once")
        case .requestRejected: return row(.network, 5)
        case .streamInterrupted:
            return row(.network, 5, retry: true, "the text so far may be incomplete; try again")
        case .protocolViolation: return row(.network, 5, "is HF_ENDPOINT the address of a Hub?")
        case .offline: return row(.network, 5, "leave out --offline, or unset HF_HUB_OFFLINE")
        case .diskFull: return row(.resource, 6, "hub gc shows what can go; what was fetched is kept")
        case .permissionDenied:
            return row(.resource, 6, "check who owns it, and its permissions")
        case .ioError: return row(.resource, 6)
        case .catalogUnusable:
            return row(.resource, 6, "hub doctor rebuild rebuilds it, keeping pins and times of use")
        case .insufficientMemory: return row(.resource, 6)
        case .digestMismatch: return row(.provider, 7, retry: true, "pull it again; damaged bytes are never kept")
        case .fileChanged: return row(.provider, 7)
        case .malformedModel: return row(.provider, 7)
        case .unsupportedModel: return row(.provider, 7)
        case .unreadableFile: return row(.input, 7)
        case .generationFailed: return row(.generation, 7)
        case .cancelled: return row(.input, 130, "the same command continues where this one stopped")
        }
    }
}
