import CPlatform
import Libc

/// Runs other programs, without a shell.
package enum Subprocess {
    /// What a program left behind.
    package struct Result: Sendable {
        /// The exit status; nil if a signal or the time limit ended it.
        package var status: Int32?
        /// Its standard output.
        package var output: [UInt8]
    }

    /// The path of a program in PATH; nil if there is none.
    package static func find(_ name: String, _ environment: HubEnvironment) -> String? {
        for folder in (environment["PATH"] ?? "").split(separator: ":") where folder.hasPrefix("/") {
            let path = Path.join(String(folder), name)
            if access(path, X_OK) == 0, (try? FileSystem.status(path))??.kind == .file { return path }
        }
        return nil
    }

    /// Runs a program to its end, without input, deaf to what it says of errors, and with an environment of PATH and the locale alone. Blocks.
    ///
    /// - Parameters:
    ///   - limit: bytes of output; with more it is killed.
    ///   - seconds: the time it may take; then it is killed.
    /// - Throws: ``ErrorCode/ioError`` if it cannot be started, or writes too much.
    package static func run(
        _ path: String, _ arguments: [String], limit: Int, seconds: Double
    ) throws(AIError) -> Result {
        let variables = ["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"]
        var process: pid_t = 0
        var pipes: [Int32] = [-1, -1, -1]
        let fault = strings([path] + arguments) { arguments in
            strings(variables) { hub_start_piped(path, arguments, $0, &process, &pipes) }
        }
        guard fault == 0 else { throw .system("cannot start", path: path, errno: fault) }
        close(pipes[0])
        let output = pipes[1]
        defer {
            close(output)
            close(pipes[2])
        }
        let end = Clock.seconds + seconds
        var bytes: [UInt8] = []
        var isEnded = false
        while !isEnded, bytes.count <= limit, Clock.seconds < end {
            guard let more = read(output, until: end) else { continue }
            isEnded = more.isEmpty
            bytes += more
        }
        // Its group: nothing that it has started is left behind.
        if !isEnded { kill(-process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard bytes.count <= limit else {
            throw AIError(.ioError, "\(Path.name(path)) writes more than \(ByteCount(Int64(limit)))")
        }
        // The lower seven bits are the signal's. wait(2)
        return Result(status: isEnded && status & 0x7F == 0 ? (status >> 8) & 0xFF : nil, output: bytes)
    }

    /// What comes next; empty at the end, nil if nothing came for a while.
    private static func read(_ descriptor: Int32, until end: Double) -> [UInt8]? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let pause = max(0, min(1000, (end - Clock.seconds) * 1000))
        guard poll(&waiting, 1, Int32(pause)) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0) }
        if count < 0 { return errno == EINTR ? nil : [] }
        return Array(buffer[..<count])
    }

    private static func strings<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = texts.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}

/// `read` of the C library; inside the enumeration the name means its own function.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
