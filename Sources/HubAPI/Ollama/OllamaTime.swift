import HubCore

/// Times as Ollama writes them.
enum OllamaTime {
    /// RFC 3339.
    static var now: JSON { .string(Timestamp.iso8601(Timestamp.now)) }

    static func date(_ seconds: Double) -> JSON { .string(Timestamp.iso8601(seconds)) }

    static func nanoseconds(_ seconds: Double) -> JSON { .int(Int64(max(0, seconds) * 1e9)) }
}
