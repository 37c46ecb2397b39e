import CPCRE2
import HubCore
import ModelFormats

/// A regular expression over UTF-8, compiled to machine code (https://www.pcre.org/current/doc/html/pcre2api.html).
///
/// Patterns come from model files, so matching has limits: a pattern that backtracks without end becomes an error.
final class Pattern: Sendable {
    // Compiled code is only read after it was made (pcre2api, "Multithreading"), and freed by deinit alone.
    nonisolated(unsafe) private let code: OpaquePointer
    // The limits are set once, before any match.
    nonisolated(unsafe) private let limits: OpaquePointer
    private let usesJIT: Bool

    /// GPT-2's pattern. `\s` is written out as Unicode's White_Space, which the reference means: PCRE2's own also
    /// takes U+180E (pcre2pattern, "Generic character types").
    /// Source: https://github.com/openai/gpt-2/blob/master/src/encoder.py
    static let gpt2: String = {
        let space =
            #"\x{09}-\x{0D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"#
        return
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\(space)\\p{L}\\p{N}]+|[\(space)]+(?![^\(space)])|[\(space)]+"
    }()

    private static let matchLimit: UInt32 = 10_000_000
    private static let depthLimit: UInt32 = 100_000
    private static let heapKibibytes: UInt32 = 64 << 10
    private static let stackBytes = 1 << 20

    /// Compiles a pattern with Unicode properties.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` with PCRE2's reason and the place in the pattern.
    init(_ pattern: String, path: String) throws(AIError) {
        var number: Int32 = 0
        var offset = 0
        var text = pattern
        let compiled = text.withUTF8 {
            pcre2_compile_8($0.baseAddress, $0.count, PCRE2_UTF | PCRE2_UCP, &number, &offset, nil)
        }
        guard let compiled else {
            throw .malformed(path, "pattern \"\(pattern)\", byte \(offset): \(Self.reason(number))")
        }
        guard let limits = pcre2_match_context_create_8(nil) else {
            pcre2_code_free_8(compiled)
            throw AIError(.insufficientMemory, "no memory for a pattern's match context")
        }
        pcre2_set_match_limit_8(limits, Self.matchLimit)
        pcre2_set_depth_limit_8(limits, Self.depthLimit)
        pcre2_set_heap_limit_8(limits, Self.heapKibibytes)
        code = compiled
        self.limits = limits
        // Where the system forbids executable memory the interpreter does the same, slower.
        usesJIT = pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE) == 0
    }

    deinit {
        pcre2_match_context_free_8(limits)
        pcre2_code_free_8(code)
    }

    /// The matches from left to right, as byte ranges of `text`, which must be valid UTF-8. None is empty.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` where a limit is reached.
    func matches(in text: UnsafeBufferPointer<UInt8>) throws(AIError) -> [Range<Int>] {
        guard let base = text.baseAddress, !text.isEmpty else { return [] }
        guard let found = pcre2_match_data_create_from_pattern_8(code, nil),
            let context = pcre2_match_context_copy_8(limits)
        else { throw AIError(.insufficientMemory, "no memory for a pattern's matches") }
        defer {
            pcre2_match_data_free_8(found)
            pcre2_match_context_free_8(context)
        }
        // The default is 32 KiB of the machine stack, which a long word can exceed (pcre2jit, "Controlling the JIT stack").
        let stack = usesJIT ? pcre2_jit_stack_create_8(32 << 10, Self.stackBytes, nil) : nil
        defer { pcre2_jit_stack_free_8(stack) }
        if let stack { pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack)) }

        var ranges: [Range<Int>] = []
        var at = 0
        while at < text.count {
            let result = pcre2_match_8(code, base, text.count, at, PCRE2_NO_UTF_CHECK, found, context)
            if result == PCRE2_ERROR_NOMATCH { break }
            guard result > 0, let offsets = pcre2_get_ovector_pointer_8(found) else {
                throw AIError(.generationFailed, "the tokenizer's pattern failed: \(Self.reason(result))")
            }
            let match = Int(offsets[0])..<Int(offsets[1])
            if match.isEmpty {
                at = match.lowerBound + 1
                while at < text.count, text[at] & 0xC0 == 0x80 { at += 1 }
            } else {
                ranges.append(match)
                at = match.upperBound
            }
        }
        return ranges
    }

    private static func reason(_ number: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = pcre2_get_error_message_8(number, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<Int(count)], as: UTF8.self) : "PCRE2 error \(number)"
    }
}
