import CCurl
import HubCore

/// One request on its way: a curl easy handle and what is called as its answer comes. Everything here happens on the
/// engine's thread.
final class HTTPTransfer {
    /// What to do after a piece of the answer.
    enum Verdict {
        case go
        /// Hold this piece back, and the transfer with it, until ``HTTPEngine/resume(_:)``; it then comes again. Only for
        /// pieces of the body.
        case pause
        /// End the transfer as if it had come to its end.
        case enough
        /// End the transfer; it then finishes with this error.
        case abort(AIError)
    }

    let request: HTTPRequest
    /// Status and fields are there; nothing of the body yet. Not called for interim answers (1xx).
    var onHead: (HTTPHead) -> Verdict = { _ in .go }
    /// The next bytes of the body.
    var onBody: (UnsafeRawBufferPointer) -> Verdict = { _ in .go }
    /// The end: once, whatever happened, except after ``HTTPEngine/cancel(_:)``.
    var onEnd: (Result<HTTPHead, AIError>) -> Void = { _ in }

    /// Wraps every call that libcurl makes; set by the engine.
    var aroundCallback: (() -> Void) -> Void = { $0() }
    /// Whether ``onEnd`` has been called or never will be.
    private(set) var isEnded = false

    private(set) var handle: UnsafeMutableRawPointer?
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var status = 0
    private var fields = HTTPFields()
    private var head: HTTPHead?
    private var abortion: AIError?
    private var hasEnough = false
    private var proxy = ""
    /// Where libcurl writes what went wrong; it keeps the address.
    private let errorText: UnsafeMutablePointer<CChar>

    init(_ request: HTTPRequest) {
        self.request = request
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        dispose()
        errorText.deallocate()
    }

    func dispose() {
        if let handle { curl_easy_cleanup(handle) }
        handle = nil
        curl_slist_free_all(headerList)
        headerList = nil
    }

    /// Makes the easy handle. https://curl.se/libcurl/c/curl_easy_setopt.html
    func prepare(_ settings: HTTPEngine.Settings) -> UnsafeMutableRawPointer? {
        guard let curl = curl_easy_init() else { return nil }
        handle = curl
        let context = Unmanaged.passUnretained(self).toOpaque()
        var results: [CURLcode] = []
        func set(_ option: CURLoption, _ value: Int) { results.append(hub_curl_set_long(curl, option, value)) }
        func set(_ option: CURLoption, _ value: String) { results.append(hub_curl_set_string(curl, option, value)) }
        set(CURLOPT_URL, request.address)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        // A server's ".." must reach us as it is, not folded away.
        set(CURLOPT_PATH_AS_IS, 1)
        // Redirects are followed by hand: the token must go no further than its origin.
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_CONNECTTIMEOUT, request.connectTimeout ?? settings.connectTimeout)
        // Less than a byte a second for so long is a stall.
        set(CURLOPT_LOW_SPEED_LIMIT, 1)
        set(CURLOPT_LOW_SPEED_TIME, settings.stallTimeout)
        if let deadline = request.deadline { set(CURLOPT_TIMEOUT, deadline) }
        set(CURLOPT_HTTP_VERSION, Int(request.allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_USERAGENT, settings.userAgent)
        set(CURLOPT_BUFFERSIZE, min(256 << 10, request.receiveBuffer ?? .max))
        if request.allowsHTTP2 { set(CURLOPT_PIPEWAIT, 1) }
        if let bytes = request.receiveBuffer { results.append(hub_curl_set_receive_buffer(curl, bytes)) }
        if request.acceptsCompression { set(CURLOPT_ACCEPT_ENCODING, "") }
        if let file = settings.certificateFile { set(CURLOPT_CAINFO, file) }
        if let folder = settings.certificateFolder {
            set(CURLOPT_CAPATH, folder)
            // Instead of the system's file, not beside it.
            results.append(hub_curl_set_string(curl, CURLOPT_CAINFO, nil))
        }
        // Always set, so that libcurl does not look into the process's environment itself.
        proxy = settings.proxy(for: request.address)
        set(CURLOPT_PROXY, proxy)
        set(CURLOPT_NOPROXY, settings.noProxy ?? "")
        // A proxy's "200 Connection established" would otherwise pass for the head of the answer.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        switch request.method {
        case .get: set(CURLOPT_HTTPGET, 1)
        case .head: set(CURLOPT_NOBODY, 1)
        case .post:
            let body = request.body ?? []
            set(CURLOPT_POST, 1)
            results.append(hub_curl_set_offset(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
            results.append(
                body.withUnsafeBytes {
                    hub_curl_set_pointer(
                        curl, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
                })
        }
        for field in request.fields.fields {
            headerList = curl_slist_append(headerList, "\(field.name): \(field.value)")
        }
        results.append(hub_curl_set_list(curl, CURLOPT_HTTPHEADER, headerList))
        results.append(hub_curl_set_pointer(curl, CURLOPT_ERRORBUFFER, errorText))
        results.append(
            hub_curl_set_data_callback(curl, CURLOPT_HEADERFUNCTION) { data, size, count, context in
                HTTPTransfer.from(context).receiveHeader(UnsafeRawBufferPointer(start: data, count: size * count))
                    ? size * count : 0
            })
        results.append(hub_curl_set_pointer(curl, CURLOPT_HEADERDATA, context))
        results.append(
            hub_curl_set_data_callback(curl, CURLOPT_WRITEFUNCTION) { data, size, count, context in
                HTTPTransfer.from(context).receiveBody(UnsafeRawBufferPointer(start: data, count: size * count))
            })
        results.append(hub_curl_set_pointer(curl, CURLOPT_WRITEDATA, context))
        return results.allSatisfy { $0 == CURLE_OK } ? curl : nil
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
        Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// One line of the head: a status line, a field, or the empty line that ends it.
    private func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Trailers of a chunked body come this way too, after the head is complete. Nobody asks for them.
        guard head == nil else { return true }
        var line = Substring(String(decoding: bytes, as: UTF8.self))
        while let last = line.last, last.isNewline { line.removeLast() }
        if line.hasPrefix("HTTP/") {
            let parts = line.split(separator: " ", maxSplits: 2)
            status = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            fields = HTTPFields()
        } else if line.isEmpty {
            guard status >= 200 else { return true }
            let complete = HTTPHead(
                status: status, fields: fields, address: request.address, token: request.token)
            head = complete
            var verdict = Verdict.go
            aroundCallback { verdict = onHead(complete) }
            return obey(verdict)
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            // What a server quotes of the token goes no further than here.
            fields.append(masked(String(line[..<colon])), masked(String(value)))
        }
        return true
    }

    private func masked(_ text: String) -> String { request.token?.masked(in: text) ?? text }

    /// What libcurl wants to hear: the number of bytes taken, or that the transfer pauses.
    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count > 0, abortion == nil, !hasEnough else { return 0 }
        var verdict = Verdict.go
        aroundCallback { verdict = onBody(bytes) }
        if case .pause = verdict { return Int(CURL_WRITEFUNC_PAUSE) }
        return obey(verdict) ? bytes.count : 0
    }

    /// Lets a paused transfer go on; for ``HTTPEngine/resume(_:)``. libcurl delivers the held bytes at once, and that they
    /// were refused is told by this result alone: the transfer itself would go on behind the hole.
    func unpause() -> CURLcode { handle.map { curl_easy_pause($0, CURLPAUSE_CONT) } ?? CURLE_OK }

    private func obey(_ verdict: Verdict) -> Bool {
        switch verdict {
        case .go, .pause: return true
        case .enough: hasEnough = true
        case .abort(let error): abortion = error
        }
        return false
    }

    /// curl is done with it.
    func complete(_ code: CURLcode) {
        if let abortion {
            finish(.failure(abortion))
        } else if code != CURLE_OK, !hasEnough {
            var (number, tunnel) = (0, 0)
            if let handle {
                _ = hub_curl_get_long(handle, CURLINFO_OS_ERRNO, &number)
                _ = hub_curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &tunnel)
            }
            finish(
                .failure(
                    CurlFault.error(
                        code, detail: masked(String(cString: errorText)), errno: Int32(clamping: number),
                        proxy: proxy,
                        tunnel: tunnel, address: request.address)))
        } else if let head {
            finish(.success(head))
        } else {
            finish(.failure(CurlFault.error(CURLE_GOT_NOTHING, detail: "", address: request.address)))
        }
    }

    func finish(_ result: Result<HTTPHead, AIError>) {
        dispose()
        let end = onEnd
        mute()
        end(result)
    }

    /// Lets go of the closures, which hold their owners; nothing is called any more.
    func mute() {
        isEnded = true
        (onHead, onBody, onEnd) = ({ _ in .go }, { _ in .go }, { _ in })
    }
}
