import Dispatch
package import HubCore
package import Testing

/// One parser that is given inputs nobody wrote, each drawn from a number: whatever comes, it is read or refused, and
/// soon. A few in every run of the tests, as many as wanted by scripts/fuzz.
package struct Fuzz: Sendable {
    /// The parser, as scripts/fuzz names it.
    package let name: String
    /// Reads the input of a number; what it throws counts as a fault.
    package let read: @Sendable (_ number: Int) throws -> Void

    package init(_ name: String, _ read: @escaping @Sendable (_ number: Int) throws -> Void) {
        (self.name, self.read) = (name, read)
    }

    /// The first few failures; empty if there were none.
    package struct Outcome: Sendable {
        package var runs = 0
        package var faults: [String] = []
    }

    /// The numbers that this run of the tests draws inputs from: `usual` many from 0, or those that scripts/fuzz asks for;
    /// none if it asks for another parser.
    package func numbers(usual: Int) -> Range<Int> {
        let environment = HubEnvironment.process
        guard let count = environment["HUB_FUZZ"].flatMap({ Int($0) }) else { return 0..<usual }
        if let only = environment["HUB_FUZZ_ONLY"], only != name { return 0..<0 }
        let first = environment["HUB_FUZZ_FIRST"].flatMap { Int($0) } ?? 0
        return first..<first + count
    }

    /// No input may take longer, in seconds of its thread, sanitizers included.
    private static let patience = 30.0

    /// Reads the inputs of all these numbers, on the threads that scripts/fuzz asks for, else on this one.
    package func run(_ numbers: Range<Int>) -> Outcome {
        let state = Lock(Outcome())
        let threads = max(1, HubEnvironment.process["HUB_FUZZ_THREADS"].flatMap { Int($0) } ?? 1)
        let journal = Journal(name)
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            var number = numbers.lowerBound + thread
            while number < numbers.upperBound {
                journal?.note(number, of: thread)
                let fault = fault(number)
                state.withLock { state in
                    state.runs += 1
                    if let fault, state.faults.count < 10 {
                        state.faults.append("\(name), number \(number): \(fault)")
                    }
                }
                number += threads
            }
        }
        do { try journal?.remove() } catch { print("\(error)") }
        return state.withLock { $0 }
    }

    private func fault(_ number: Int) -> String? {
        let start = Clock.threadSeconds
        do { try read(number) } catch { return "\(error)" }
        let seconds = Clock.threadSeconds - start
        return seconds > Self.patience ? "it took \(seconds) seconds" : nil
    }
}

/// Reads inputs that nobody wrote; every fault fails the test.
package func expect(_ fuzz: Fuzz, usual: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    let numbers = fuzz.numbers(usual: usual)
    let outcome = fuzz.run(numbers)
    #expect(outcome.faults.isEmpty && outcome.runs == numbers.count, sourceLocation: sourceLocation)
}

/// Where each thread stands, in a file that outlives a crash: `HUB_FUZZ_FOLDER/PARSER`, a line for each thread.
private final class Journal: Sendable {
    private static let width = 24
    private let path: String
    private let descriptor: FileDescriptor

    init?(_ name: String) {
        guard let folder = HubEnvironment.process["HUB_FUZZ_FOLDER"] else { return nil }
        path = Path.join(folder, name)
        guard let file = try? FileDescriptor(path, [.write, .create, .truncate]) else { return nil }
        descriptor = file
    }

    func note(_ number: Int, of thread: Int) {
        let text = String(number)
        let line = Array((String(repeating: " ", count: Self.width - 1 - text.utf8.count) + text + "\n").utf8)
        line.withUnsafeBytes { buffer in
            // Without it a crash is only harder to find again.
            do { try descriptor.write(buffer, at: Int64(thread * Self.width)) } catch {
                print("no place kept: \(error)")
            }
        }
    }

    func remove() throws(AIError) { try FileSystem.remove(path) }
}

extension SeededRandom {
    /// A whole number below `count`.
    package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// Bytes with a few places flipped, copied, cut out, put in or cut off, numbers made extreme.
    package mutating func mutated(_ source: [UInt8]) -> [UInt8] {
        var bytes = source
        for _ in 0...below(4) where !bytes.isEmpty {
            let at = below(bytes.count)
            switch below(8) {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: next())
            case 1: bytes[at] ^= 1 << UInt8(below(8))
            case 2: bytes[at] = bytes[below(bytes.count)]
            case 3: bytes.removeSubrange(at..<min(at + below(9), bytes.count))
            case 4: bytes.removeSubrange((at + 1)...)
            case 5:
                let from = below(bytes.count)
                bytes.insert(contentsOf: bytes[from..<min(from + below(40), bytes.count)], at: at)
            case 6:
                // The ends of the whole numbers, where sums and products overflow.
                let extremes: [UInt64] = [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 62, 1 << 63, .max]
                let value = extremes[below(extremes.count)]
                for byte in 0..<(one(in: 2) ? 4 : 8) where at + byte < bytes.count {
                    bytes[at + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
                }
            default:
                // JSON's own: what is a number, a bracket or a word becomes another.
                let words = [
                    "-1", "9223372036854775807", "1e308", "null", "[", "]", "{", "}", "\"", ",", ":", "\\u0000",
                    "true",
                ]
                let word = Array(words[below(words.count)].utf8)
                bytes.replaceSubrange(at..<min(at + below(4), bytes.count), with: word)
            }
        }
        return bytes
    }
}

extension SeededRandom {
    /// A document with a few of its values replaced by unexpected ones.
    package mutating func mutated(_ source: JSON) -> JSON {
        var json = source
        for _ in 0...below(3) { json = replaced(json, depth: 0) }
        return json
    }

    private static let values: [JSON] = [
        .null, true, -1, 0, 1, 3, 64, .int(1 << 31), .int(.max), .int(.min), .double(1e308), .double(0.5), "", "x",
        "\u{301}\u{0}", .array([]), .object([:]), .array([.array([.array([-1])])]),
    ]

    private mutating func replaced(_ json: JSON, depth: Int) -> JSON {
        if depth > 0, one(in: 5) { return Self.values[below(Self.values.count)] }
        switch json {
        case .array(var elements) where !elements.isEmpty:
            let at = below(elements.count)
            if one(in: 12) {
                elements.remove(at: at)
            } else if one(in: 12) {
                elements.insert(elements[at], at: below(elements.count))
            } else {
                elements[at] = replaced(elements[at], depth: depth + 1)
            }
            return .array(elements)
        case .object(let object) where !object.members.isEmpty:
            var members = object.members.map { (key: $0.key, value: $0.value) }
            let at = below(members.count)
            if one(in: 12) {
                members.remove(at: at)
            } else {
                members[at].value = replaced(members[at].value, depth: depth + 1)
            }
            return .object(JSONObject(members))
        default: return Self.values[below(Self.values.count)]
        }
    }
}
