import HubCore

/// One range: the request, the checks of its response, and the handling of failures.
extension PullSession {
    func fetch(_ file: FileTransfer, _ range: Range<Int64>) {
        let part = FileTransfer.Part(range)
        part.isResolving = file.file.isLFS && file.location == nil && !file.isServedDirectly
        part.answer = file.answers
        file.parts.append(part)
        let job = file.job
        let hub = client.fileAddress(job.repository, revision: job.commit.hash, path: file.file.path)
        ask(file.location ?? hub, for: part, of: file)
    }

    private func ask(_ address: String, for part: FileTransfer.Part, of file: FileTransfer) {
        engine.assertOnThread()
        var request = HTTPRequest(.get, address)
        // Compressed ranges have no file positions. What is compressed all the same is decoded if it is the whole file.
        request.fields["Accept-Encoding"] = "identity"
        let isWhole = part.asked == 0..<file.file.size
        if !isWhole || file.file.isLFS, !file.isSingleStream {
            request.fields["Range"] = "bytes=\(part.asked.lowerBound)-\(part.asked.upperBound - 1)"
        } else if !file.file.isLFS {
            request.allowsHTTP2 = true
        }
        if let rate = settings.bytesPerSecond {
            // Bytes in the system's buffers bypass the rate limit: allow a quarter of a second's worth.
            request.receiveBuffer = Int(min(1 << 20, max(16 << 10, rate / 4 / Int64(budget.ranges))))
        }
        client.http.authorise(&request)
        client.log("GET \(SafeAddress.shown(address))" + (request.fields["Range"].map { " \($0)" } ?? ""))
        let transfer = HTTPTransfer(request)
        part.transfer = transfer
        var takesBody = false
        var message: [UInt8] = []
        transfer.onHead = { [self] head in
            guard head.isSuccess else { return .go }
            do throws(AIError) {
                try check(head, of: file)
                takesBody = try accept(head, for: part, of: file)
                return .go
            } catch {
                return .abort(error)
            }
        }
        transfer.onBody = { [self] bytes in
            guard takesBody else {
                // Only the start of an error's body is used.
                if message.count < 4096 { message.append(contentsOf: bytes.prefix(4096)) }
                return .go
            }
            guard part.next + Int64(bytes.count) <= part.brought.upperBound else {
                return .abort(violation(file, "sends more than the \(part.brought.count) bytes of its range"))
            }
            return receive(bytes, part, of: file)
        }
        transfer.onEnd = { [self] result in
            part.transfer = nil
            switch result {
            case .failure(let error): failed(part, of: file, error, status: nil, wait: nil)
            case .success(let head): ended(part, of: file, head, message)
            }
        }
        engine.start(transfer)
    }

    /// The response's header fields must agree with the tree.
    private func check(_ head: HTTPHead, of file: FileTransfer) throws(AIError) {
        if let commit = head.fields["X-Repo-Commit"], commit != file.job.commit.hash {
            throw violation(file, "comes from commit \(commit.printable), not \(file.job.commit)")
        }
        if let size = head.fields["X-Linked-Size"], Int64(size) != file.file.size {
            throw violation(file, "has \(size.printable) bytes, not the \(file.file.size) of the file list")
        }
        if let etag = head.fields["X-Linked-Etag"] ?? (head.isRedirect ? nil : head.fields["ETag"]),
            let digest = ContentDigest(etag: ContentDigest.normalized(etag: etag)), digest != file.file.digest,
            // A store may answer with a hash of its own kind; only one of the same kind can contradict.
            digest.hex.utf8.count == file.file.digest.hex.utf8.count
        {
            throw violation(file, "has the digest \(digest), not the \(file.file.digest) of the file list")
        }
    }

    /// Checks that a response brings the requested range, or bytes that can be used.
    private func accept(_ head: HTTPHead, for part: FileTransfer.Part, of file: FileTransfer) throws(AIError)
        -> Bool
    {
        part.isResolving = false
        if file.location == nil, Origin(head.address) == client.http.origin { file.isServedDirectly = true }
        let asksRange = part.transfer?.request.fields["Range"] != nil
        let isWhole = part.asked == 0..<file.file.size
        let body = RangedBody(head, of: file.file.size)
        func inOnePiece(_ why: String) {
            client.log("\(file.file.path): \(why); fetching it in one piece")
            file.isSingleStream = true
        }
        switch body {
        case .range(part.asked) where head.status == 206: return true
        case .whole where isWhole || !asksRange: return true
        case .range(let range) where asksRange && file.job.watch == nil:
            // The digest shows whether it is the range that it names. Whoever reads along would have read wrong bytes by then.
            inOnePiece("\(body) came with status \(head.status) for \(RangedBody.range(part.asked))")
            part.take(range)
            return true
        case .range where asksRange, .whole where asksRange, .unknown where asksRange,
            .other(Int64(part.asked.count)) where asksRange:
            // Existing bytes are kept; the whole file is fetched once, from the beginning.
            inOnePiece("the server ignores or spoils ranges")
            throw AIError(.connectionLost, "the server ignores ranges")
        case .other(let length):
            let page = head.fields["Content-Type"]?.hasPrefix("text/html") == true ? ", a web page" : ""
            throw violation(file, "has \(length) bytes\(page), not the \(file.file.size) of the file list")
        default: throw violation(file, "answers with \(body)")
        }
    }

    private func ended(_ part: FileTransfer.Part, of file: FileTransfer, _ head: HTTPHead, _ message: [UInt8]) {
        engine.assertOnThread()
        if head.isSuccess {
            guard part.left == 0 else {
                let text = "the connection ended \(ByteCount(part.left)) early"
                return failed(part, of: file, AIError(.connectionLost, text), status: nil, wait: nil)
            }
            file.parts.removeAll { $0 === part }
            if !isSmall(file) { learn(from: part) }
            advance(file)
            pump()
        } else if head.isRedirect {
            redirect(part, of: file, head)
        } else {
            let rate = RateLimit(head.fields)
            if file.file.isLFS, Origin(head.address) != client.http.origin,
                [400, 401, 403, 404, 410].contains(head.status)
            {
                return expired(part, of: file, status: head.status)
            }
            let fault = HubFault(
                endpoint: client.endpoint, repository: file.job.repository, revision: file.job.commit.hash,
                path: file.file.path,
                hasToken: client.hasToken)
            failed(
                part, of: file, fault.error(head, body: message), status: head.status,
                wait: [429, 503].contains(head.status) ? rate?.secondsToWait.map(Double.init) : nil)
        }
    }

    /// A signed address is refused because it has expired. The Hub gives a new one for the same content.
    private func expired(_ part: FileTransfer.Part, of file: FileTransfer, status: Int) {
        guard part.answer == file.answers, file.location != nil else {
            // Another range has noticed already; a newer address is known or was requested.
            file.parts.removeAll { $0 === part }
            return pump()
        }
        file.location = nil
        let error = AIError(.connectionLost, "the address of \(file.file.path) has expired (\(status))")
        failed(part, of: file, error, status: nil, wait: file.failures == 0 ? 0 : nil)
    }

    private func redirect(_ part: FileTransfer.Part, of file: FileTransfer, _ head: HTTPHead) {
        do throws(AIError) {
            try check(head, of: file)
            let target = try head.redirectTarget()
            part.redirects += 1
            guard part.redirects <= 10 else { throw violation(file, "is redirected more than ten times") }
            client.log("redirected to \(SafeAddress.shown(target))")
            // A CDN's address serves all ranges; the Hub's own relative redirects are followed anew each time.
            if part.isResolving, Origin(target) != client.http.origin {
                file.location = target
                file.answers += 1
                part.answer = file.answers
                part.isResolving = false
            }
            ask(target, for: part, of: file)
            pump()
        } catch {
            failed(part, of: file, error, status: head.status, wait: nil)
        }
    }

    /// Puts the rest of a range back, and decides when to try again or to give up.
    private func failed(
        _ part: FileTransfer.Part, of file: FileTransfer, _ error: AIError, status: Int?, wait: Double?
    ) {
        engine.assertOnThread()
        file.parts.removeAll { $0 === part }
        guard file.phase == .fetching else { return }
        // The other requests ask for ranges too, and would fail the same way.
        if file.isSingleStream, file.parts.contains(where: { $0.asked != 0..<file.file.size }) {
            file.cancelParts(engine)
        }
        let again: Set<ErrorCode> = [.connectionLost, .timedOut, .serverError, .rateLimited, .unreachable]
        // A server that answers wrongly may be one of many behind one name: try a few more times.
        guard again.contains(error.code) || (error.code == .protocolViolation && file.failures < 3) else {
            return end(file, failed: error)
        }
        if let wait, wait > limits.longestWait {
            // A limit on requests is meant for all files.
            return error.code == .rateLimited ? endAll(error) : end(file, failed: error)
        }
        // The Hub may know a better place.
        if error.code == .unreachable { file.location = nil }
        let now = Clock.seconds
        // When the connection breaks, all requests fail together: that counts as one failure.
        let isAnother = part.startedAt < file.failedAt
        if !isAnother {
            guard file.failures < limits.failures else { return end(file, failed: error) }
            file.failures += 1
            file.setbacks += 1
            file.failedAt = now
        }
        let backoff = min(30, limits.backoff * Double(1 << min(file.setbacks, 10))) * Double.random(in: 0.5...1)
        let delay = wait ?? (file.setbacks == 1 ? min(0.05, backoff) : backoff)
        if !isAnother || wait != nil { file.notBefore = max(file.notBefore, now + delay) }
        if error.code == .rateLimited { pauseUntil = max(pauseUntil, file.notBefore) }
        guard !isAnother else {
            client.log("\(file.file.path): \(error.message)")
            return pump()
        }
        client.log(
            "\(file.file.path): \(error.message); trying again in \(Int((delay * 1000).rounded())) ms (failure \(file.failures) of \(limits.failures))"
        )
        report(.retrying(path: file.file.path, reason: error.message, seconds: delay), file.job.index)
        pump()
    }

    private func violation(_ file: FileTransfer, _ what: String) -> AIError {
        AIError(
            .protocolViolation, "\(file.file.path) of \(file.job.repository) \(what)",
            context: .init(repository: file.job.repository.description, path: file.file.path))
    }
}
