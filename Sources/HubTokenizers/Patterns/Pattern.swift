import CPCRE2
import HubCore
import ModelFormats

/// A regular expression over UTF-8, compiled to machine code (https://www.pcre.org/current/doc/html/pcre2api.html).
///
/// Patterns come from model files, so matching has limits: a pattern that backtracks without end becomes an error.
final class Pattern: Sendable {
    // Compiled code is only read after compilation (pcre2api, "Multithreading"), and freed only by deinit.
    nonisolated(unsafe) fileprivate let code: OpaquePointer
    // The limits that do not depend on the text; set once, before any match.
    nonisolated(unsafe) fileprivate let limits: OpaquePointer
    fileprivate let usesJIT: Bool
    private let matchers = Pool<PatternMatcher>()

    /// GPT-2's pattern, in the syntax of a tokenizer.json.
    /// Source: https://github.com/openai/gpt-2/blob/master/src/encoder.py
    static let gpt2 = #"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#

    private static let depthLimit: UInt32 = 100_000
    private static let heapKibibytes: UInt32 = 64 << 10

    /// Compiles a pattern of a tokenizer.json.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming what PCRE2 lacks or interprets differently,
    ///   ``ErrorCode/malformedModel`` with PCRE2's reason for an invalid pattern.
    convenience init(_ pattern: String, path: String) throws(AIError) {
        let translation: PatternTranslation
        do throws(PatternTranslation.Refusal) {
            translation = try PatternTranslation(pattern)
        } catch {
            throw .unsupported(
                path, "the pattern \"\(pattern.excerpt)\" cannot be used yet: it has \(error.what.excerpt)")
        }
        try self.init(translated: translation.text, original: pattern, path: path)
    }

    /// Compiles a literal text.
    convenience init(literal text: String, path: String) throws(AIError) {
        try self.init(translated: PatternTranslation.literal(text), original: text, path: path)
    }

    /// Compiles a pattern in PCRE2's syntax.
    init(translated: String, original: String, path: String) throws(AIError) {
        var number: Int32 = 0
        var offset = 0
        var text = translated.isEmpty ? "(?:)" : translated
        let compiled = text.withUTF8 {
            pcre2_compile_8($0.baseAddress, $0.count, PCRE2_UTF | PCRE2_UCP, &number, &offset, nil)
        }
        guard let compiled else {
            let reason = "the pattern \"\(original.excerpt)\" cannot be used: \(Self.reason(number))"
            throw Self.limitsOfPCRE2.contains(number) ? .unsupported(path, reason) : .malformed(path, reason)
        }
        guard let limits = pcre2_match_context_create_8(nil) else {
            pcre2_code_free_8(compiled)
            throw AIError(.insufficientMemory, "no memory for a pattern's match context")
        }
        pcre2_set_depth_limit_8(limits, Self.depthLimit)
        pcre2_set_heap_limit_8(limits, Self.heapKibibytes)
        code = compiled
        self.limits = limits
        // If the system forbids executable memory, the slower interpreter is used.
        usesJIT = pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE) == 0
    }

    deinit {
        pcre2_match_context_free_8(limits)
        pcre2_code_free_8(code)
    }

    /// The matches from left to right, as byte ranges of `text`, which must be valid UTF-8.
    ///
    /// A match may be empty, as for a look-ahead, but not at the end of another match.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if a limit is reached.
    func matches(in text: UnsafeBufferPointer<UInt8>) throws(AIError) -> [Range<Int>] {
        let matcher: PatternMatcher
        if let kept = matchers.take() { matcher = kept } else { matcher = try PatternMatcher(self) }
        defer { matchers.giveBack(matcher) }
        return try matcher.matches(self, in: text)
    }

    /// Errors that mean a limit was reached.
    private static let limitsOfPCRE2: Set<Int32> = [
        PCRE2_ERROR_QUANTIFIER_TOO_BIG, PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP, PCRE2_ERROR_PATTERN_TOO_LARGE,
        PCRE2_ERROR_HEAP_FAILED, PCRE2_ERROR_PATTERN_TOO_COMPLICATED, PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH,
        PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED, PCRE2_ERROR_LOOKBEHIND_TOO_LONG,
    ]

    fileprivate static func reason(_ number: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = pcre2_get_error_message_8(number, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<Int(count)], as: UTF8.self) : "PCRE2 error \(number)"
    }
}

/// The working memory of matching one pattern; used by one thread at a time.
private final class PatternMatcher {
    private let found: OpaquePointer
    private let context: OpaquePointer
    private let stack: OpaquePointer?

    private static let stackBytes = 1 << 20

    /// The backtracking limit of a match. A sane pattern needs a few steps per byte; this many per byte would let a
    /// hostile one run for minutes.
    private static func matchLimit(bytes: Int) -> UInt32 { UInt32(min(10_000_000, 100_000 + 32 * bytes)) }

    /// - Throws: ``ErrorCode/insufficientMemory``.
    init(_ pattern: Pattern) throws(AIError) {
        guard let found = pcre2_match_data_create_from_pattern_8(pattern.code, nil),
            let context = pcre2_match_context_copy_8(pattern.limits)
        else { throw AIError(.insufficientMemory, "no memory for a pattern's matches") }
        self.found = found
        self.context = context
        // The default is 32 KiB of the machine stack, which a long word can exceed (pcre2jit, "Controlling the JIT
        // stack").
        stack = pattern.usesJIT ? pcre2_jit_stack_create_8(32 << 10, Self.stackBytes, nil) : nil
        if let stack { pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack)) }
    }

    deinit {
        pcre2_match_data_free_8(found)
        pcre2_match_context_free_8(context)
        pcre2_jit_stack_free_8(stack)
    }

    func matches(_ pattern: Pattern, in text: UnsafeBufferPointer<UInt8>) throws(AIError) -> [Range<Int>] {
        guard let base = text.baseAddress, !text.isEmpty else { return [] }
        pcre2_set_match_limit_8(context, Self.matchLimit(bytes: text.count))
        guard let offsets = pcre2_get_ovector_pointer_8(found) else { return [] }
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(text.count / 4)
        var at = 0
        while at <= text.count {
            // The fast path checks nothing, so the text must be valid UTF-8 and the offset at a character (pcre2jit,
            // "JIT fast path API").
            let result =
                pattern.usesJIT
                ? pcre2_jit_match_8(pattern.code, base, text.count, at, 0, found, context)
                : pcre2_match_8(pattern.code, base, text.count, at, PCRE2_NO_UTF_CHECK, found, context)
            if result == PCRE2_ERROR_NOMATCH { break }
            guard result > 0 else {
                throw AIError(.generationFailed, "the tokenizer's pattern failed: \(Pattern.reason(result))")
            }
            let match = Int(offsets[0])..<Int(offsets[1])
            if match.isEmpty, match.lowerBound == ranges.last?.upperBound {
                at += 1
                while at < text.count, text[at] & 0xC0 == 0x80 { at += 1 }
            } else {
                ranges.append(match)
                at = match.upperBound
            }
        }
        return ranges
    }
}
