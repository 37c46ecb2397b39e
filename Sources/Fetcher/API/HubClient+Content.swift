import HubCore

extension HubClient {
    /// The first bytes of a file at a commit, for deciding whether to fetch the rest. They are not verified.
    ///
    /// - Parameter isPatient: false for no retry and only the time limit of an API call.
    func beginning(
        of file: RepositoryFile, _ count: Int, in repository: Repository, at commit: Commit, isPatient: Bool = true
    ) async throws -> [UInt8] {
        try await bytes(of: file, 0..<count, in: repository, at: commit, isPatient: isPatient)
    }

    /// A range of a file at a commit, not verified. Without range support only the start of the file works.
    func bytes(
        of file: RepositoryFile, _ range: Range<Int>, in repository: Repository, at commit: Commit,
        isPatient: Bool = true
    ) async throws -> [UInt8] {
        guard !range.isEmpty else { return [] }
        return try await located(file, range, in: repository, at: commit, isPatient: isPatient).bytes
    }

    /// A range that is not empty, and the address that served it, for further ranges of the file.
    ///
    /// - Parameter location: that address from an earlier call; nil asks the Hub.
    func located(
        _ file: RepositoryFile, _ range: Range<Int>, in repository: Repository, at commit: Commit,
        from location: String? = nil, isPatient: Bool = true
    ) async throws -> (bytes: [UInt8], address: String) {
        let count = range.count
        let hub = fileAddress(repository, revision: commit.hash, path: file.path)
        var request = HTTPRequest(.get, location ?? hub)
        if !isPatient { request.deadline = answerTimeout }
        request.connectTimeout = Double(connectTimeout)
        request.fields["Accept-Encoding"] = "identity"
        request.fields["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        // A server without ranges sends everything, and a redirect has a body.
        let limit = max(count, 64 << 10)
        let answer = try await retrying(
            request, fault: fault(repository, revision: commit.hash, path: file.path), retries: isPatient ? nil : 0
        ) { try await http.response(to: $0, limit: limit, cutsOff: true) }
        func violation(_ what: String) -> AIError {
            AIError(
                .protocolViolation, "\(file.path) of \(repository) \(what)",
                context: .init(repository: repository.description, path: file.path, status: answer.status))
        }
        if let coding = answer.fields["Content-Encoding"], coding.lowercased() != "identity" {
            throw violation("comes encoded as \(coding.printable) although it was asked for as it is")
        }
        switch answer.status {
        case 206:
            let field = answer.fields["Content-Range"] ?? ""
            guard let got = ContentRange(field), got.range == Int64(range.lowerBound)..<Int64(range.upperBound),
                got.total ?? file.size == file.size
            else {
                throw violation(
                    "answers with the range \"\(field.printable)\" to \(range.lowerBound)-\(range.upperBound - 1)")
            }
        case 200 where range.lowerBound == 0:
            if let length = answer.head.contentLength, length != file.size {
                throw violation("has \(length) bytes, not the \(file.size) of the file list")
            }
        default: throw violation("answers with status \(answer.status)")
        }
        guard answer.body.count >= count else {
            throw violation("answers with \(answer.body.count) bytes instead of \(count)")
        }
        return (Array(answer.body.prefix(count)), answer.head.address)
    }
}
