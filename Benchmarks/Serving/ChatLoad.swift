import HubCore
import Libc

/// Clients of `hub serve api`: `Benchmarks chats PORT MODEL` prints the tokens a second of eight texts at once,
/// `Benchmarks waits PORT MODEL` how much later a short prompt's first token comes while a long prompt is read.
enum ChatLoad {
    static let (texts, tokens) = (8, 160)

    /// - Returns: whether the words ask for it.
    static func run(_ words: [String]) throws -> Bool {
        guard words.count == 3, let port = UInt16(words[1]) else { return false }
        let model = words[2]
        switch words[0] {
        case "chats":
            // The first round does not count.
            _ = try rate(port, model, round: 0)
            print(JSON.object(["per_second": .double(try rate(port, model, round: 1))]).text())
        case "waits":
            _ = try wait(port, model, prompt: text(1, 8))
            let alone = try median(of: [2, 3, 4]) { try wait(port, model, prompt: text($0, 8)) }
            let disturbed = try median(of: [5, 6, 7]) { try waitBesideLong(port, model, $0) }
            print(JSON.object(["alone": .double(alone), "seconds": .double(disturbed - alone)]).text())
        default: return false
        }
        return true
    }

    /// A text of this many bytes, each a token of the benchmark's models; each number has its own.
    static func text(_ number: Int, _ count: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        return String((0..<count).map { letters[($0 * 7 + number + $0 / 26) % 26] })
    }

    /// The sum of the speeds of texts, each from its first token on.
    static func speed(_ times: [(first: Double, last: Double)]) -> Double {
        times.reduce(0) { $0 + Double(tokens - 1) / ($1.last - $1.first) }
    }

    private static func rate(_ port: UInt16, _ model: String, round: Int) throws -> Double {
        let found = Lock<[Result<(first: Double, last: Double), any Error>]>([])
        let done = Awaited(0)
        for number in 0..<texts {
            try BackgroundThread.start {
                let times = Result {
                    try stream(port, model, text(round * texts + number, 8), tokens: tokens)
                }
                found.withLock { $0.append(times) }
                done.change { $0 += 1 }
            }
        }
        _ = done.wait { $0 == texts ? true : nil }
        return speed(try found.withLock { $0 }.map { try $0.get() })
    }

    private static func median(of numbers: [Int], _ seconds: (Int) throws -> Double) throws -> Double {
        var all: [Double] = []
        for number in numbers { all.append(try seconds(number)) }
        return all.sorted()[numbers.count / 2]
    }

    /// Seconds to the first token.
    private static func wait(_ port: UInt16, _ model: String, prompt: String) throws -> Double {
        let start = Clock.seconds
        return try stream(port, model, prompt, tokens: 1).first - start
    }

    /// The same while a prompt of 3,000 tokens is read.
    private static func waitBesideLong(_ port: UInt16, _ model: String, _ number: Int) throws -> Double {
        let long = Awaited<Result<(first: Double, last: Double), any Error>?>(nil)
        try BackgroundThread.start {
            let times = Result { try stream(port, model, text(number, 3000), tokens: 1) }
            long.change { $0 = times }
        }
        usleep(200_000)
        let (start, seconds) = (Clock.seconds, try wait(port, model, prompt: text(number + 10, 8)))
        let end = try long.wait { $0 }.get().first
        guard end > start + seconds else { throw AIError(.ioError, "the long prompt was read too soon to measure") }
        return seconds
    }

    /// Asks for a text in events; when its first and its last token came.
    private static func stream(
        _ port: UInt16, _ model: String, _ prompt: String, tokens: Int
    ) throws -> (first: Double, last: Double) {
        let body = JSON.object([
            "model": .string(model), "prompt": .string(prompt), "max_tokens": .int(Int64(tokens)), "stream": true,
            "temperature": 0, "ignore_eos": true, "logprobs": tokens == 1 ? 0 : nil,
        ]).text()
        let connection = try LoadConnection(port)
        try connection.send(
            """
            POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """, isWhole: true)
        var (first, received) = (Double?.none, [UInt8]())
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        // The last chunk ends the answer. A search in all bytes would take time from the server, which has the same cores.
        let (event, end) = (Array("data: ".utf8), Array("\r\n0\r\n\r\n".utf8))
        while true {
            let count = recv(connection.socket, &buffer, buffer.count, 0)
            guard count > 0 else { throw AIError(.connectionLost, "the answer ends short") }
            received += buffer[..<count]
            if first == nil, received.contains(event) { first = Clock.seconds }
            if received.suffix(end.count).elementsEqual(end) { break }
            received.removeFirst(max(0, received.count - end.count))
        }
        return (first ?? 0, Clock.seconds)
    }
}

extension [UInt8] {
    fileprivate func contains(_ other: [UInt8]) -> Bool { firstRange(of: other) != nil }
}
