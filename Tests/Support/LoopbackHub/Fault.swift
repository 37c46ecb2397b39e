package import HubServer

/// Something that goes wrong with requests, as it does on real networks.
package struct Fault: Sendable {
    /// Which of the two listeners.
    package enum Listener: String, Sendable, Hashable { case hub, cdn }

    /// What goes wrong. Offsets count the bytes of the one response, unless said otherwise.
    package enum Kind: Sendable {
        /// Closes after so many bytes.
        case drop(after: Int64)
        /// Sends so many bytes, then nothing for some time, then closes.
        case stall(after: Int64, seconds: Double)
        /// Sends so many bytes, then nothing until the gate is opened, then the rest.
        case hold(after: Int64, Gate)
        /// Answers nothing at all, not even a head, until the gate is opened.
        case holdHead(Gate)
        /// Answers this in place of everything.
        case status(Int, headers: HTTPHeaders = [:], body: String = "")
        /// Flips a bit of the byte at this offset.
        case corrupt(at: Int64)
        /// Flips a bit of the byte at this offset of the file, in whatever response holds it; requests whose range does
        /// not are left alone and not counted.
        case corruptFile(at: Int64)
        /// Ignores Range: 200 and the whole content.
        case noRange
        /// Content-Range says one byte later than what is sent.
        case wrongContentRange
        /// A range begins so many bytes before the one that was asked for, and says so.
        case shiftedRange(by: Int64)
        /// A range has at most so many bytes, and says so.
        case shortRange(Int64)
        /// 206 without Content-Range.
        case noContentRange
        /// The right range with its Content-Range, but with status 200.
        case rangeWithStatus200
        /// Promises the right length and closes so many bytes before it.
        case truncate(by: Int64)
        /// The signed address is refused, as when it has expired.
        case expire
        /// At most so many bytes in a second.
        case trickle(bytesPerSecond: Int)
        /// Waits before answering.
        case delay(seconds: Double)
        /// 200 and JSON that breaks off.
        case garbage
        /// The body gzip-encoded and without a length, though identity was asked.
        case gzip
        /// 200 and a page, as a captive portal answers.
        case html
        /// Another etag than the tree says.
        case changedEtag(String)
        /// A redirect to the same address.
        case redirectLoop
        /// A redirect to an address of the test's choice.
        case redirect(to: String)
    }

    /// A regular expression that is found in `METHOD /path`, the path decoded and without its query.
    package var match: String
    package var kind: Kind
    /// How many requests it hits; nil for all.
    package var times: Int?
    /// nil for both.
    package var listener: Listener?

    package init(_ match: String, _ kind: Kind, times: Int? = 1, on listener: Listener? = nil) {
        self.match = match
        self.kind = kind
        self.times = times
        self.listener = listener
    }
}
