/// Checks that the head of a request is unambiguous about where the body ends. Otherwise a proxy in front could read it
/// differently (request smuggling). https://www.rfc-editor.org/rfc/rfc9112#section-6.3
enum RequestFraming {
    static func check(_ headers: HTTPHeaders) throws(HTTPFault) {
        guard headers.fields.allSatisfy({ isToken($0.name) }) else {
            throw .malformed("the name of a header has a character that no name has")
        }
        let lengths = headers.all("Content-Length")
        let codings = headers.all("Transfer-Encoding")
        guard lengths.count <= 1 else { throw .malformed("the request has more than one Content-Length") }
        guard lengths.isEmpty || codings.isEmpty else {
            throw .malformed("the request has both Content-Length and Transfer-Encoding")
        }
        guard lengths.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            throw .malformed("Content-Length is not a number")
        }
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            throw HTTPFault(status: 501, reason: "the only Transfer-Encoding known here is chunked")
        }
    }

    /// https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
