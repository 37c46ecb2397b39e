import HubCore
import HubServer
import Synchronization

/// The log of `hub serve`: a line for each request.
final class RequestLog: Sendable {
    private let output: Output
    private let token: AccessToken?
    private let form: AnsweredRequest.Form
    /// nil for stderr.
    private let file: LogFile?
    private let hasFailed = Atomic(false)

    /// - Parameters:
    ///   - file: a path, or `-` for stderr; nil is stderr where that is a terminal, and no log elsewhere.
    ///   - form: that of the lines.
    ///   - token: shown in no line.
    init?(_ output: Output, file: String?, form: AnsweredRequest.Form = .plain, hiding token: AccessToken?)
        throws(AIError)
    {
        guard let path = file ?? (output.settings.errorIsTerminal && output.mode != .quiet ? "-" : nil) else {
            return nil
        }
        self.output = output
        self.token = token
        self.form = form
        self.file = path == "-" ? nil : LogFile(descriptor: try FileDescriptor(path, [.write, .create, .append]))
    }

    /// Adds a line. Any thread may call it.
    func write(_ request: AnsweredRequest) {
        let line = request.line(form, at: Timestamp.now, hiding: token)
        guard let file else { return output.progressLine(line) }
        let number = Sink.descriptor(file.descriptor.raw).write(Array("\(line)\n".utf8))
        // Once, or a full disk would fill the screen.
        guard number != 0, !hasFailed.exchange(true, ordering: .relaxed) else { return }
        output.failure(.system("cannot write to the log", path: file.descriptor.path, errno: number))
    }
}

/// The class around a descriptor, which cannot be copied and so not be optional in another class.
private final class LogFile: Sendable {
    let descriptor: FileDescriptor
    init(descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}
