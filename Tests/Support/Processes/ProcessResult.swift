/// How a program ended and what it wrote.
package struct ProcessResult: Sendable {
    /// The exit status; 128 + the signal where a signal ended it, as a shell says it.
    package var status: Int32
    /// Whether a signal ended it.
    package var wasKilled: Bool
    package var outputBytes: [UInt8]
    package var errorBytes: [UInt8]
    /// What it wrote to its terminal.
    package var terminalBytes: [UInt8]

    package var output: String { String(decoding: outputBytes, as: UTF8.self) }
    package var error: String { String(decoding: errorBytes, as: UTF8.self) }
    package var terminal: String { String(decoding: terminalBytes, as: UTF8.self) }
}
