import Libc

/// The environment of this process.
enum ProcessVariables {
    static func all() -> [String: String] {
        var out: [String: String] = [:]
        var at = environ
        while let entry = at.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                out[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            at += 1
        }
        return out
    }
}
