import CCurl

/// The options of one easy handle. https://curl.se/libcurl/c/curl_easy_setopt.html
struct CurlOptions {
    private let curl: UnsafeMutableRawPointer
    /// Whether libcurl has accepted all of them.
    private(set) var areSet = true

    init(_ curl: UnsafeMutableRawPointer) { self.curl = curl }

    private mutating func note(_ result: CURLcode) { areSet = areSet && result == CURLE_OK }

    mutating func set(_ option: CURLoption, _ value: Int) { note(hub_curl_set_long(curl, option, value)) }
    mutating func set(_ option: CURLoption, _ value: String?) { note(hub_curl_set_string(curl, option, value)) }
    mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer) {
        note(hub_curl_set_pointer(curl, option, pointer))
    }
    mutating func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) {
        note(hub_curl_set_list(curl, option, list))
    }
    mutating func set(_ option: CURLoption, callback: @escaping hub_curl_data_callback) {
        note(hub_curl_set_data_callback(curl, option, callback))
    }

    /// Limits what the socket receives ahead of the reader.
    mutating func setReceiveBuffer(_ bytes: Int) { note(hub_curl_set_receive_buffer(curl, bytes)) }

    /// Sets what moves the reading of a body to another offset.
    mutating func setSeeking(_ context: UnsafeMutableRawPointer, _ callback: @escaping hub_curl_seek_callback) {
        note(hub_curl_set_pointer(curl, CURLOPT_SEEKDATA, context))
        note(hub_curl_set_seek_callback(curl, callback))
    }

    /// The length of a body, which a callback gives.
    mutating func setBodyLength(_ length: Int64) {
        note(hub_curl_set_offset(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(length)))
    }

    /// libcurl keeps a copy of the body.
    mutating func setBody(_ body: [UInt8]) {
        setBodyLength(Int64(body.count))
        let copied = body.withUnsafeBytes {
            hub_curl_set_pointer(
                curl, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
        note(copied)
    }
}
