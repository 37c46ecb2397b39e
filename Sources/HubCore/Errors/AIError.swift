/// The only error type that crosses module boundaries: the fault, its place and advice.
///
/// Its ``code`` determines exit status, advice and whether a retry can help; see ``ErrorCode``.
public struct AIError: Error, Sendable, CustomStringConvertible {
    /// The place of the fault. Addresses never contain credentials or signed queries.
    public struct Context: Sendable, Hashable {
        /// The repository concerned, as `org/name`.
        public var repository: String?
        /// The file or folder concerned.
        public var path: String?
        /// The HTTP status that a server answered.
        public var status: Int?
        /// The requested address, without query and user information.
        public var address: String?
        /// Seconds after which a server asks to try again.
        package var retrySeconds: Int?
        /// What is wrong with ``path``, where the message says the path and this.
        package var fault: String?

        /// A context; unknown facts are nil.
        public init(repository: String? = nil, path: String? = nil, status: Int? = nil, address: String? = nil) {
            self.repository = repository
            self.path = path
            self.status = status
            self.address = address
        }
    }

    /// The kind of fault.
    public var code: ErrorCode
    /// One sentence without a full stop that names the thing and the fault.
    public var message: String
    /// Advice, if more specific than the code's.
    public var specificAdvice: String?
    /// Where it happened.
    public var context: Context
    /// The underlying error, if any.
    public var cause: (any Error)?

    /// An error of the given code.
    public init(
        _ code: ErrorCode, _ message: String, advice: String? = nil, context: Context = Context(),
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.specificAdvice = advice
        self.context = context
        self.cause = cause
    }

    /// The group that ``code`` belongs to.
    public var category: ErrorCategory { code.facts.category }
    /// Whether the same call may succeed later.
    public var isRetryable: Bool { code.facts.isRetryable }
    /// What happened, in one sentence.
    public var errorDescription: String? { message }
    /// What to do about it.
    public var recoverySuggestion: String? { specificAdvice ?? code.facts.advice }
    /// The process exit status of the command-line contract.
    public var exitStatus: Int32 { code.facts.exitStatus }
    /// The message; for logs.
    public var description: String { message }
}

extension AIError {
    /// The error of a failed system call. `ENOSPC` and `EDQUOT` become ``ErrorCode/diskFull``; `EACCES`, `EPERM` and
    /// `EROFS` become ``ErrorCode/permissionDenied``; `ENOENT` stays an input/output error, because its meaning depends
    /// on the caller.
    package static func system(_ what: String, path: String, errno number: Int32) -> AIError {
        AIError(
            SystemErrno.code(number), "\(what) \(path): \(SystemErrno.text(number))",
            context: Context(path: path), cause: SystemErrno(number: number))
    }

    /// Converts any error; cancellation always becomes ``ErrorCode/cancelled``.
    public static func wrapping(_ error: any Error) -> AIError {
        if let known = error as? AIError { return known }
        if error is CancellationError { return AIError(.cancelled, "interrupted") }
        return AIError(.ioError, "\(error)", cause: error)
    }

    /// The errno beneath this error, if a system call was the cause.
    package var errno: Int32? { (cause as? SystemErrno)?.number }
    /// Whether a system call failed with ENOENT.
    package var isAbsence: Bool { (cause as? SystemErrno)?.isAbsence ?? false }
}
