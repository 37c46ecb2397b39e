import CCurl
import HubCore
import Libc

/// A running request: a curl easy handle with its callbacks. Used only on the engine's thread.
final class HTTPTransfer {
    /// How to continue after a piece of the response.
    enum Verdict {
        case go
        /// Pause the transfer until ``HTTPEngine/resume(_:)``; this piece is then delivered again. Only for the body.
        case pause
        /// End the transfer as if complete.
        case enough
        /// End the transfer; it then finishes with this error.
        case abort(AIError)
    }

    let request: HTTPRequest
    /// Called with the head, before the body. Not called for interim responses (1xx).
    var onHead: (HTTPHead) -> Verdict = { _ in .go }
    /// The next bytes of the body.
    var onBody: (UnsafeRawBufferPointer) -> Verdict = { _ in .go }
    /// The end: once, whatever happened, except after ``HTTPEngine/cancel(_:)``.
    var onEnd: (Result<HTTPHead, AIError>) -> Void = { _ in }

    /// Wraps every call that libcurl makes; set by the engine.
    var aroundCallback: (() -> Void) -> Void = { $0() }
    /// Whether the server may have the request: not if it was never reached. Of a body in memory libcurl does not tell.
    var mayHaveRun: Bool { request.upload == nil || hasSent }
    /// Whether ``onEnd`` has been called or never will be.
    private(set) var isEnded = false

    private(set) var handle: UnsafeMutableRawPointer?
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var connectList: UnsafeMutablePointer<curl_slist>?
    private var status = 0
    private var fields = HTTPFields()
    private var head: HTTPHead?
    private var abortion: AIError?
    private var hasEnough = false
    private var proxy = ""
    /// How far the body of an upload has been given to libcurl.
    private var sendOffset: Int64 = 0
    private var hasSent = false
    /// When a byte of an upload was last given to libcurl, or this was made. By ``Clock/seconds``.
    private(set) var lastSent = Clock.seconds
    /// libcurl's error buffer.
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
        curl_slist_free_all(connectList)
        (headerList, connectList) = (nil, nil)
    }

    /// Makes the easy handle.
    func prepare(_ settings: HTTPEngine.Settings) -> UnsafeMutableRawPointer? {
        guard let curl = curl_easy_init() else { return nil }
        handle = curl
        var options = CurlOptions(curl)
        setConnection(&options, settings)
        setRequest(&options)
        setCallbacks(&options)
        return options.areSet ? curl : nil
    }

    private func setConnection(_ options: inout CurlOptions, _ settings: HTTPEngine.Settings) {
        options.set(CURLOPT_PROTOCOLS_STR, "http,https")
        options.set(CURLOPT_NOSIGNAL, 1)
        let connectTimeout = request.connectTimeout ?? Double(settings.connectTimeout)
        options.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(connectTimeout * 1000)))
        // Less than a byte per second for this long is a stall.
        options.set(CURLOPT_LOW_SPEED_LIMIT, 1)
        options.set(CURLOPT_LOW_SPEED_TIME, request.stallTimeout ?? settings.stallTimeout)
        if !request.reusesConnection { options.set(CURLOPT_FRESH_CONNECT, 1) }
        if let address = request.connectsTo {
            // "HOST:PORT:CONNECT-TO-HOST:CONNECT-TO-PORT"; empty ones mean any host and port, and the same port.
            // https://curl.se/libcurl/c/CURLOPT_CONNECT_TO.html
            connectList = curl_slist_append(nil, "::" + (address.contains(":") ? "[\(address)]:" : "\(address):"))
            options.set(CURLOPT_CONNECT_TO, list: connectList)
            options.set(CURLOPT_FRESH_CONNECT, 1)
            options.set(CURLOPT_FORBID_REUSE, 1)
        }
        if let deadline = request.deadline { options.set(CURLOPT_TIMEOUT, deadline) }
        options.set(CURLOPT_HTTP_VERSION, Int(request.allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        options.set(CURLOPT_BUFFERSIZE, min(256 << 10, request.receiveBuffer ?? .max))
        if request.allowsHTTP2 { options.set(CURLOPT_PIPEWAIT, 1) }
        if let bytes = request.receiveBuffer { options.setReceiveBuffer(bytes) }
        if let file = SystemCertificates.file {
            options.set(CURLOPT_CAINFO, file)
            options.set(CURLOPT_PROXY_CAINFO, file)
        }
        if let file = settings.certificateFile { options.set(CURLOPT_CAINFO, file) }
        if let folder = settings.certificateFolder {
            options.set(CURLOPT_CAPATH, folder)
            // Instead of the system's file, not beside it.
            if settings.certificateFile == nil { options.set(CURLOPT_CAINFO, nil) }
        }
        // Always set, so that libcurl does not read the environment.
        proxy = settings.proxy(for: request.address)
        options.set(CURLOPT_PROXY, proxy)
        options.set(CURLOPT_NOPROXY, settings.noProxy ?? "")
        // Otherwise a proxy's "200 Connection established" would count as the response's head.
        options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        options.set(CURLOPT_USERAGENT, settings.userAgent)
    }

    private func setRequest(_ options: inout CurlOptions) {
        options.set(CURLOPT_URL, request.address)
        // Keep ".." in paths unchanged.
        options.set(CURLOPT_PATH_AS_IS, 1)
        // Redirects are followed by hand: the token must go no further than its origin.
        options.set(CURLOPT_FOLLOWLOCATION, 0)
        if request.acceptsCompression {
            options.set(CURLOPT_ACCEPT_ENCODING, "")
        } else if request.fields["Accept-Encoding"] == "identity" {
            // A proxy may compress all the same; with this option libcurl decodes whatever it knows.
            options.set(CURLOPT_ACCEPT_ENCODING, "identity")
        }
        switch request.method {
        case .get: options.set(CURLOPT_HTTPGET, 1)
        case .head: options.set(CURLOPT_NOBODY, 1)
        case .post:
            options.set(CURLOPT_POST, 1)
            if let upload = request.upload {
                options.setBodyLength(upload.length)
            } else {
                options.setBody(request.body ?? [])
            }
            // Else libcurl waits a second for "100 Continue", which few servers send.
            headerList = curl_slist_append(headerList, "Expect:")
        }
        for field in request.fields.fields {
            headerList = curl_slist_append(headerList, "\(field.name): \(field.value)")
        }
        options.set(CURLOPT_HTTPHEADER, list: headerList)
    }

    private func setCallbacks(_ options: inout CurlOptions) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        options.set(CURLOPT_ERRORBUFFER, pointer: errorText)
        options.set(CURLOPT_HEADERDATA, pointer: context)
        options.set(CURLOPT_HEADERFUNCTION) { data, size, count, context in
            HTTPTransfer.from(context).receiveHeader(UnsafeRawBufferPointer(start: data, count: size * count))
                ? size * count : 0
        }
        if request.upload != nil {
            options.set(CURLOPT_READDATA, pointer: context)
            options.set(CURLOPT_READFUNCTION) { data, size, count, context in
                HTTPTransfer.from(context).sendBody(
                    UnsafeMutableRawBufferPointer(start: data, count: size * count))
            }
            // libcurl begins anew where a connection closes before it has sent all.
            options.setSeeking(context) { context, offset, origin in
                HTTPTransfer.from(context).seek(Int64(offset), origin)
            }
        }
        options.set(CURLOPT_WRITEDATA, pointer: context)
        options.set(CURLOPT_WRITEFUNCTION) { data, size, count, context in
            HTTPTransfer.from(context).receiveBody(UnsafeRawBufferPointer(start: data, count: size * count))
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
        Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// One line of the head: a status line, a field, or the empty line that ends it.
    private func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Trailers of a chunked body come this way too, after the head is complete. They are ignored.
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
            // Masks the token if a server quotes it.
            fields.append(masked(String(line[..<colon])), masked(String(value)))
        }
        return true
    }

    private func masked(_ text: String) -> String { request.token?.masked(in: text) ?? text }

    /// Returns the number of bytes given.
    private func sendBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
        (hasSent, lastSent) = (true, Clock.seconds)
        guard let upload = request.upload, abortion == nil else { return Int(CURL_READFUNC_ABORT) }
        do throws(AIError) {
            let count = try upload.read(into: room, at: sendOffset)
            sendOffset += Int64(count)
            return count
        } catch {
            abortion = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    private func seek(_ offset: Int64, _ origin: Int32) -> Int32 {
        guard origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
        sendOffset = offset
        return CURL_SEEKFUNC_OK
    }

    /// Returns the number of bytes taken, or the code for a pause.
    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count > 0, abortion == nil, !hasEnough else { return 0 }
        var verdict = Verdict.go
        aroundCallback { verdict = onBody(bytes) }
        if case .pause = verdict { return Int(CURL_WRITEFUNC_PAUSE) }
        return obey(verdict) ? bytes.count : 0
    }

    /// Continues a paused transfer, for ``HTTPEngine/resume(_:)``. libcurl delivers the held bytes at once; only this
    /// result reports that they were refused.
    func unpause() -> CURLcode { handle.map { curl_easy_pause($0, CURLPAUSE_CONT) } ?? CURLE_OK }

    private func obey(_ verdict: Verdict) -> Bool {
        switch verdict {
        case .go, .pause: return true
        case .enough: hasEnough = true
        case .abort(let error): abortion = error
        }
        return false
    }

    /// Called when curl has finished.
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
                    CurlFault(
                        code: code, detail: masked(String(cString: errorText)), errno: Int32(clamping: number),
                        proxy: proxy, tunnel: tunnel, address: request.address
                    ).error))
        } else if let head {
            finish(.success(head))
        } else {
            finish(.failure(CurlFault(code: CURLE_GOT_NOTHING, address: request.address).error))
        }
    }

    func finish(_ result: Result<HTTPHead, AIError>) {
        dispose()
        let end = onEnd
        mute()
        end(result)
    }

    /// Releases the closures; nothing is called any more.
    func mute() {
        isEnded = true
        (onHead, onBody, onEnd) = ({ _ in .go }, { _ in .go }, { _ in })
    }
}
