import Fetcher
import HubCore

/// Sends calls to one provider: the key kept to its origin, refusals as errors, and again only what cannot have cost
/// anything.
struct RemoteClient: Sendable {
    let context: RemoteContext
    let limits: RemoteLimits
    let credential: Credential?
    let fault: RemoteFault

    init(
        _ context: RemoteContext, _ limits: RemoteLimits, credential: Credential?, name: String, isHub: Bool
    ) {
        self.context = context
        self.limits = limits
        self.credential = credential
        fault = RemoteFault(name: name, isHub: isHub, credential: credential)
    }

    var name: String { fault.name }

    /// Sends a call until it succeeds, is refused, or its time is over; the answer has a status of 2xx.
    ///
    /// - Throws: ``ErrorCode/offline``, and by ``RemoteFault``.
    func send(_ call: RemoteCall, by deadline: Deadline) async throws(AIError) -> RemoteAnswer {
        try context.requireNetwork(for: name)
        var tries = RetryCount()
        while true {
            switch await attempt(call, deadline) {
            case .answer(let answer): return answer
            case .unreached(let error):
                // Nobody has heard of the call yet; and a question can be asked twice.
                try await wait(Self.next(&tries.connects, limits.connectRetries, limits), error, deadline)
            case .refused(let error, let head, let body):
                try await wait(delay(after: head, body, isSafe: call.isSafe, &tries), error, deadline)
            case .failed(let error): throw error
            }
        }
    }

    /// The same for an answer that is one JSON document.
    func json(_ call: RemoteCall, by deadline: Deadline, limit: Int = 64 << 20) async throws(AIError) -> JSON {
        let answer = try await send(call, by: deadline)
        let json = try await answer.json(limit: limit)
        if let error = fault.error(in: json) { throw error }
        return json
    }

    private enum Outcome {
        case answer(RemoteAnswer)
        /// It never came to the server.
        case unreached(AIError)
        case refused(AIError, HTTPHead, [UInt8])
        case failed(AIError)
    }

    private func attempt(_ call: RemoteCall, _ deadline: Deadline) async -> Outcome {
        do throws(AIError) {
            let engine = try context.workspace.engine()
            var request = call.request(limits)
            for _ in 0...5 {
                if let credential { credential.authorise(&request) }
                context.log("\(request.method.rawValue) \(SafeAddress.shown(request.address))")
                let stream: HTTPStream
                do throws(HTTPStream.Fault) {
                    stream = try await HTTPStream.open(
                        request, on: engine, patience: limits.firstByte, until: deadline.end)
                } catch {
                    return outcome(error, call, deadline)
                }
                let answer = RemoteAnswer(stream: stream, client: self, deadline: deadline)
                guard stream.head.isRedirect else {
                    if stream.head.isSuccess { return .answer(answer) }
                    // A refusal is one without its words, too.
                    let body = (try? await answer.body(limit: 64 << 10, cutsOff: true)) ?? []
                    return .refused(fault.error(stream.head, body, model: call.model), stream.head, body)
                }
                request.address = try target(stream.head, isSafe: call.isSafe)
            }
            return .failed(
                AIError(
                    .protocolViolation, "\(name): more than five redirects",
                    advice: "check the provider's address"))
        } catch {
            return .failed(error)
        }
    }

    /// Where a redirect leads. What was asked of one host, and may cost money, is not sent to another.
    private func target(_ head: HTTPHead, isSafe: Bool) throws(AIError) -> String {
        let target = try head.redirectTarget()
        let isSameCall = head.status == 307 || head.status == 308
        guard isSafe || (isSameCall && Origin(target) == Origin(head.address)) else {
            throw AIError(
                .protocolViolation, "\(name) redirects the call to \(SafeAddress.shown(target).printable)",
                advice: "use that address if you trust it; nothing was sent there",
                context: .init(status: head.status, address: SafeAddress.shown(head.address)))
        }
        return target
    }

    private func outcome(_ fault: HTTPStream.Fault, _ call: RemoteCall, _ deadline: Deadline) -> Outcome {
        switch fault {
        case .cancelled: return .failed(AIError(.cancelled, "interrupted"))
        case .failed(let error, let mayHaveRun):
            var masked = error.masking(credential)
            if masked.code == .unreachable, masked.specificAdvice == nil {
                masked.specificAdvice = self.fault.unreachedAdvice
            }
            let isPassing: Set<ErrorCode> = [.unreachable, .timedOut, .connectionLost]
            let isFree = !mayHaveRun || call.isSafe
            return isFree && isPassing.contains(error.code) ? .unreached(masked) : .failed(masked)
        case .silent(let mayHaveRun):
            if deadline.remaining <= 0 { return .failed(deadline.error(name)) }
            let error = AIError(
                .timedOut, "\(name) did not begin to answer within \(Deadline.shown(limits.firstByte)) s",
                advice: "try again later, or choose another provider",
                context: .init(address: SafeAddress.shown(call.address)))
            return mayHaveRun && !call.isSafe ? .failed(error) : .unreached(error)
        }
    }

    // MARK: Retries

    private struct RetryCount {
        var connects = 0
        var limited = 0
        var unavailable = 0
    }

    /// Seconds to wait after a refusal; nil if the call is not repeated.
    private func delay(after head: HTTPHead, _ body: [UInt8], isSafe: Bool, _ tries: inout RetryCount) -> Double? {
        let asked = RetryAfter.seconds(head.fields, now: Timestamp.now)
        switch head.status {
        case 429:
            guard let usual = Self.next(&tries.limited, limits.rateLimitRetries, limits) else { return nil }
            return max(asked ?? 0, usual)
        case 503:
            let json = try? JSON.parse(body, mostWords: 1 << 14)
            // A guess is asked about again; a time that was named is obeyed.
            let guess = json?["estimated_time"]?.double.map { min($0, limits.longestWait) }
            guard let time = asked ?? guess else { return nil }
            // A provider that says 0 again and again must not be asked in a loop.
            defer { tries.unavailable += 1 }
            return max(
                time, min(limits.longestWait, limits.retryBaseDelay * Double(1 << min(tries.unavailable, 20))))
        case 500..<600 where isSafe: return Self.next(&tries.connects, limits.connectRetries, limits)
        default: return nil
        }
    }

    /// The next wait by doubling; nil if there were enough.
    private static func next(_ count: inout Int, _ most: Int, _ limits: RemoteLimits) -> Double? {
        guard count < most else { return nil }
        defer { count += 1 }
        return limits.retryBaseDelay * Double(1 << count) * Double.random(in: 0.75...1.25)
    }

    /// Waits, or throws the error if that is not worth it.
    private func wait(_ seconds: Double?, _ error: AIError, _ deadline: Deadline) async throws(AIError) {
        guard let seconds, seconds.isFinite, seconds <= limits.longestWait, seconds < deadline.remaining else {
            throw error
        }
        let text = "\(error.message); trying again in \(Int(seconds.rounded(.up))) s"
        if seconds > 2 { context.notice(text) } else { context.log(text) }
        do { try await context.workspace.engine().sleep(seconds) } catch { throw AIError.wrapping(error) }
    }
}

extension AIError {
    /// Without a key that a server may have quoted.
    func masking(_ credential: Credential?) -> AIError {
        guard let token = credential?.token else { return self }
        var error = self
        error.message = token.masked(in: message)
        error.specificAdvice = specificAdvice.map { token.masked(in: $0) }
        return error
    }
}
