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

    /// A range of a file at a commit, not verified. Without range support only the first 16 MiB of the file work.
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
        func violation(_ what: String, _ status: Int) -> AIError {
            AIError(
                .protocolViolation, "\(file.path) of \(repository) \(what)",
                context: .init(repository: repository.description, path: file.path, status: status))
        }
        var bytes: [UInt8] = []
        var address = location ?? fileAddress(repository, revision: commit.hash, path: file.path)
        var asksRange = true
        let mayBeWhole = range.upperBound <= Self.mostWithoutRanges
        while bytes.count < range.count {
            let wanted = Int64(range.lowerBound + bytes.count)..<Int64(range.upperBound)
            var request = HTTPRequest(.get, address)
            if !isPatient { request.deadline = answerTimeout }
            request.connectTimeout = Double(connectTimeout)
            request.fields["Accept-Encoding"] = "identity"
            if asksRange { request.fields["Range"] = "bytes=\(wanted.lowerBound)-\(wanted.upperBound - 1)" }
            // A server without ranges sends everything, and a redirect has a body.
            let limit = max(asksRange ? wanted.count : range.upperBound, 64 << 10)
            let answer: HTTPResponse
            do {
                answer = try await retrying(
                    request, fault: fault(repository, revision: commit.hash, path: file.path),
                    retries: isPatient ? nil : 0
                ) { try await http.response(to: $0, limit: limit, cutsOff: true) }
            } catch let error as AIError where error.code == .protocolViolation && asksRange && mayBeWhole {
                // Such as the middle of a compressed file, which cannot be decompressed.
                asksRange = false
                continue
            }
            address = answer.head.address
            let body = RangedBody(answer.head, of: file.size)
            let new: ArraySlice<UInt8>
            switch body {
            case .range(let got): new = answer.body.part(wanted, from: got.lowerBound)
            case .whole: new = answer.body.part(wanted, from: 0)
            case .other where answer.head.fields["Content-Type"]?.hasPrefix("text/html") != true && asksRange:
                new = []
            case .unknown: new = []
            case .other, .status:
                throw violation(
                    "answers with \(body), not the \(file.size) bytes of the file list", answer.status)
            }
            bytes += new
            guard new.isEmpty else { continue }
            // A box on the way spoils ranges, or the server knows none: the beginning comes without one.
            guard asksRange, mayBeWhole else {
                throw violation(
                    "answers with \(body) to \(wanted.lowerBound)-\(wanted.upperBound - 1)", answer.status)
            }
            asksRange = false
        }
        return (bytes, address)
    }

    /// Bytes of a file's beginning that are read at most where the server has no ranges.
    private static let mostWithoutRanges = 16 << 20
}

extension [UInt8] {
    /// What of a wanted range this body has, which begins at an offset; nothing if its first byte is missing.
    fileprivate func part(_ wanted: Range<Int64>, from offset: Int64) -> ArraySlice<UInt8> {
        let start = wanted.lowerBound - offset
        guard start >= 0, start < Int64(count) else { return [] }
        return self[Int(start)..<Int(Swift.min(wanted.upperBound - offset, Int64(count)))]
    }
}
