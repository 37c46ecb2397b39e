import CCurl
package import HubCore
import Libc

/// All HTTP of a process: one thread that drives a curl-multi handle. Transfers are started from any thread; their
/// callbacks, timers and blocks all run on the engine's thread, so shared state needs no lock. The thread ends when the
/// engine is released. https://curl.se/libcurl/c/libcurl-multi.html
package final class HTTPEngine: @unchecked Sendable {
    /// How the engine reaches the network.
    package struct Settings: Sendable {
        /// Seconds to connect.
        package var connectTimeout = 10
        /// Seconds without a byte after which a transfer counts as stalled.
        package var stallTimeout = 10
        package var userAgent = "hub/0.1.0"
        /// A file of certificate authorities, instead of the system's.
        package var certificateFile: String?
        /// A folder of certificate authorities as `openssl rehash` makes it, instead of the system's.
        package var certificateFolder: String?
        /// The proxies for http and for https addresses.
        package var httpProxy: String?
        package var httpsProxy: String?
        /// The hosts that need no proxy, in libcurl's notation.
        package var noProxy: String?

        /// The settings of the environment.
        package init(_ environment: HubEnvironment = .process) throws(AIError) {
            connectTimeout = try environment.downloadTimeout()
            stallTimeout = try environment.downloadTimeout()
            // libcurl reads http_proxy only in lower case, because of CGI; Python reads both.
            httpProxy = environment.first("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
                .map(ProxySettings.address)
            httpsProxy = environment.first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
                .map(ProxySettings.address)
            noProxy = environment.first("no_proxy", "NO_PROXY")
            try setCertificates(environment)
        }

        /// As for curl: `SSL_CERT_FILE` and `SSL_CERT_DIR` count together, where no variable of requests or curl is set.
        private mutating func setCertificates(_ environment: HubEnvironment) throws(AIError) {
            let ofTools = environment.first("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
            if let file = ofTools ?? environment["SSL_CERT_FILE"] {
                guard let status = try FileSystem.status(file) else {
                    throw AIError(
                        .invalidInput, "the certificate file \(file.printable) does not exist",
                        advice: "it is set by REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE")
                }
                // Python accepts a folder in the same variables.
                if status.kind == .directory { certificateFolder = file } else { certificateFile = file }
            }
            guard ofTools == nil, certificateFolder == nil, let folder = environment["SSL_CERT_DIR"] else { return }
            // OpenSSL reads several, with a colon between, and passes over those that are not there.
            let kinds = try folder.split(separator: ":").map { part throws(AIError) in
                try FileSystem.status(String(part))?.kind
            }
            guard kinds.contains(.directory) else {
                throw AIError(
                    .invalidInput, "the certificate folder \(folder.printable) does not exist",
                    advice: "it is set by SSL_CERT_DIR")
            }
            certificateFolder = folder
        }

        /// The proxy for an address; empty for none. Requests to this machine never use one: the token
        /// may go there by plain http, which a proxy elsewhere could read.
        func proxy(for address: String) -> String {
            guard let origin = Origin(address), !origin.isLoopback,
                !(noProxy.map { ProxySettings.isExempt(origin, by: $0) } ?? false)
            else { return "" }
            return (origin.scheme == "http" ? httpProxy : httpsProxy) ?? ""
        }
    }

    let settings: Settings
    private let multi: UnsafeMutableRawPointer
    /// Blocks handed over from other threads.
    private let inbox = Lock<[@Sendable () -> Void]>([])

    // Only the engine's thread touches what follows; see assertOnThread().
    private var thread: pthread_t?
    private var running: [UnsafeMutableRawPointer: HTTPTransfer] = [:]
    /// In the order in which they are due.
    private var timers: [Timer] = []
    /// Above zero during libcurl's callbacks, which must not change the multi handle; such calls wait in `deferred`.
    /// https://curl.se/libcurl/c/curl_multi_perform.html
    private var callbackDepth = 0
    private var deferred: [() -> Void] = []
    private var isStopped = false

    private struct Timer {
        var due: UInt64
        var body: () -> Void
    }

    /// Starts the thread.
    ///
    /// - Throws: ``ErrorCode/ioError`` if memory, descriptors or threads are lacking.
    package init(_ settings: Settings) throws(AIError) {
        _ = Self.initialised
        guard let multi = curl_multi_init() else { throw Shortage.error("cannot start libcurl") }
        self.settings = settings
        self.multi = multi
        // Connections are kept for reuse up to this many; each transfer has its own budget above.
        _ = hub_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 64)
        try BackgroundThread.start { [weak self] in
            self?.thread = pthread_self()
            while let engine = self { engine.step() }
        }
    }

    deinit {
        for (handle, transfer) in running {
            curl_multi_remove_handle(multi, handle)
            transfer.dispose()
        }
        curl_multi_cleanup(multi)
    }

    private static let initialised: Void = { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

    /// Cancels every transfer, and every new one when it starts. Blocks and timers still run, so that waiting callers
    /// are notified.
    package func stop() {
        perform { [self] in
            isStopped = true
            let transfers = running
            running = [:]
            for (handle, transfer) in transfers {
                curl_multi_remove_handle(multi, handle)
                transfer.finish(.failure(AIError(.cancelled, "interrupted")))
            }
        }
    }

    /// Runs a block on the engine's thread, soon.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        inbox.withLock { $0.append(body) }
        curl_multi_wakeup(multi)
    }

    /// Waits this many seconds, or until the task is cancelled. `Task.sleep` would need a thread of Dispatch.
    package func sleep(_ seconds: Double) async throws {
        let pause = Pause()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform { [self] in
                    pause.begin(continuation)
                    after(seconds) { pause.end(.success(())) }
                }
            }
        } onCancel: {
            perform { pause.end(.failure(CancellationError())) }
        }
    }

    /// A waiting ``sleep(_:)``. Used only on the engine's thread.
    private final class Pause: @unchecked Sendable {
        private var continuation: CheckedContinuation<Void, any Error>?
        private var outcome: Result<Void, any Error>?

        func begin(_ waiting: CheckedContinuation<Void, any Error>) {
            if let outcome { waiting.resume(with: outcome) } else { continuation = waiting }
        }

        func end(_ result: Result<Void, any Error>) {
            outcome = outcome ?? result
            continuation?.resume(with: result)
            continuation = nil
        }
    }

    // MARK: On the engine's thread

    /// Ends a debug build on any other thread than the engine's.
    ///
    /// The invariant: transfers, the exchanges and pulls that they belong to, and every block given to ``perform(_:)`` and
    /// ``after(_:_:)`` use one thread, so that their state needs no lock. Other threads reach that state by
    /// ``perform(_:)`` alone.
    func assertOnThread() {
        assert(thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false, "not on the engine's thread")
    }

    /// Runs a block on the engine's thread after this many seconds. Only to be called on that thread.
    func after(_ seconds: Double, _ body: @escaping () -> Void) {
        assertOnThread()
        let due = Clock.nanoseconds + UInt64(max(0, seconds) * 1e9)
        let place = timers.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        timers.insert(Timer(due: due, body: body), at: place)
    }

    /// Starts a transfer. Only to be called on the engine's thread.
    func start(_ transfer: HTTPTransfer) {
        assertOnThread()
        guard callbackDepth == 0 else {
            deferred.append { [self] in start(transfer) }
            return
        }
        transfer.aroundCallback = { [unowned self] body in
            assertOnThread()
            callbackDepth += 1
            body()
            callbackDepth -= 1
        }
        guard !transfer.isEnded else { return }
        guard !isStopped else { return transfer.finish(.failure(AIError(.cancelled, "interrupted"))) }
        guard let handle = transfer.prepare(settings) else {
            transfer.finish(.failure(AIError(.ioError, "libcurl refuses a new transfer")))
            return
        }
        running[handle] = transfer
        let code = curl_multi_add_handle(multi, handle)
        if code != CURLM_OK {
            running[handle] = nil
            transfer.finish(.failure(AIError(.ioError, "libcurl: \(String(cString: curl_multi_strerror(code)))")))
        }
    }

    /// Ends a transfer without further callbacks. Only to be called on the engine's thread.
    func cancel(_ transfer: HTTPTransfer) {
        assertOnThread()
        transfer.mute()
        guard callbackDepth == 0 else {
            deferred.append { [self] in cancel(transfer) }
            return
        }
        guard let handle = transfer.handle, running.removeValue(forKey: handle) != nil else { return }
        curl_multi_remove_handle(multi, handle)
        transfer.dispose()
    }

    /// Continues a paused transfer; held-back bytes are delivered at once. Only to be called on the engine's thread.
    func resume(_ transfer: HTTPTransfer) {
        assertOnThread()
        guard callbackDepth == 0 else {
            deferred.append { [self] in resume(transfer) }
            return
        }
        let code = transfer.unpause()
        guard code != CURLE_OK, let handle = transfer.handle, running.removeValue(forKey: handle) != nil else {
            return
        }
        curl_multi_remove_handle(multi, handle)
        transfer.complete(code)
    }

    private func step() {
        for body in inbox.withLock({ blocks in
            defer { blocks = [] }; return blocks
        }) { body() }
        runTimers()
        var active: Int32 = 0
        curl_multi_perform(multi, &active)
        runDeferred()
        collectFinished()
        // A finished transfer may have queued blocks that are already due.
        guard inbox.withLock({ $0.isEmpty }) else { return }
        curl_multi_poll(multi, nil, 0, waitingTime(), nil)
    }

    private func runDeferred() {
        while !deferred.isEmpty {
            let bodies = deferred
            deferred = []
            for body in bodies { body() }
        }
    }

    private func runTimers() {
        let now = Clock.nanoseconds
        let due = timers.prefix { $0.due <= now }
        guard !due.isEmpty else { return }
        timers.removeFirst(due.count)
        for timer in due { timer.body() }
        runDeferred()
    }

    /// Milliseconds until the next timer, at most a second.
    private func waitingTime() -> Int32 {
        let now = Clock.nanoseconds
        let next = timers.first.map { $0.due > now ? $0.due - now : 0 } ?? 1_000_000_000
        return Int32(min(1000, (next + 999_999) / 1_000_000))
    }

    private func collectFinished() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            let code = hub_curl_message_result(message)
            guard let transfer = running.removeValue(forKey: handle) else { continue }
            curl_multi_remove_handle(multi, handle)
            transfer.complete(code)
        }
    }
}
