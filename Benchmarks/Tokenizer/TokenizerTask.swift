import HubCore
import HubTokenizers

/// Measurements inside a separate process, to exclude the program's start.
///
///     Benchmarks tokenize FOLDER TEXT
enum TokenizerTask {
    /// Runs the task if the first word names it; otherwise returns false.
    static func run(_ arguments: [String]) throws -> Bool {
        guard arguments.first == "tokenize", arguments.count == 3 else { return false }
        guard let bytes = try FileSystem.contents(arguments[2]) else {
            throw AIError(.fileNotFound, "there is no \(arguments[2])")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        var (tokenizer, load) = try seconds { try Tokenizer(folder: arguments[1]) }
        // The first reading is that of a cold file too.
        (tokenizer, load) = try seconds { try Tokenizer(folder: arguments[1]) }
        let (ids, encoding) = try seconds { try tokenizer.encode(text, addSpecialTokens: false) }
        let (again, decoding) = seconds { tokenizer.decode(ids) }
        var sum: UInt64 = 0
        for id in ids { sum = sum &* 31 &+ UInt64(id) }
        print(
            JSON.object([
                "load_seconds": .double(load), "encode_bytes_per_second": .double(Double(bytes.count) / encoding),
                "decode_bytes_per_second": .double(Double(bytes.count) / decoding),
                "tokens": .int(Int64(ids.count)),
                "sum": .string(String(sum, radix: 16)), "whole": .bool(again == text),
            ]).text())
        return true
    }

    private static func seconds<Value>(_ body: () throws -> Value) rethrows -> (Value, Double) {
        let began = Clock.seconds
        let value = try body()
        return (value, Clock.seconds - began)
    }
}
