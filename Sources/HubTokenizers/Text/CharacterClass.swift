import CUTF8Proc

/// The character classes of tokenizers. General categories are those of utf8proc, other properties those of the
/// standard library; docs/design/tokenizers.md says where they differ from the reference's.
enum CharacterClass: Sendable {
    /// White_Space, as Rust's `char::is_whitespace`.
    case whiteSpace
    /// ASCII punctuation and the general categories P.
    case punctuation
    /// The general categories N, as Rust's `char::is_numeric`.
    case numeric
    /// One character.
    case scalar(UInt32)

    func contains(_ value: UInt32) -> Bool {
        switch self {
        case .whiteSpace: Self.isWhiteSpace(value)
        case .punctuation: Self.isPunctuation(value)
        case .numeric: value < 0x80 ? (0x30...0x39).contains(value) : Self.category(value, in: Self.numbers)
        case .scalar(let scalar): value == scalar
        }
    }

    private static let numbers = UTF8PROC_CATEGORY_ND.rawValue...UTF8PROC_CATEGORY_NO.rawValue
    private static let marks = UTF8PROC_CATEGORY_MN.rawValue...UTF8PROC_CATEGORY_ME.rawValue
    private static let punctuations = UTF8PROC_CATEGORY_PC.rawValue...UTF8PROC_CATEGORY_PO.rawValue

    static func isWhiteSpace(_ value: UInt32) -> Bool {
        switch value {
        case 0x9...0xD, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }

    static func isPunctuation(_ value: UInt32) -> Bool {
        switch value {
        case 0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: true
        case ..<0x80: false
        default: category(value, in: punctuations)
        }
    }

    /// The general categories M.
    static func isMark(_ value: UInt32) -> Bool { value >= 0x300 && category(value, in: marks) }

    /// The general category Mn.
    static func isNonspacingMark(_ value: UInt32) -> Bool {
        value >= 0x300 && utf8proc_category(Int32(bitPattern: value)) == UTF8PROC_CATEGORY_MN
    }

    /// The general categories Cc, Cf, Cn and Co.
    static func isOther(_ value: UInt32) -> Bool {
        if value < 0x80 { return value < 0x20 || value == 0x7F }
        switch utf8proc_category(Int32(bitPattern: value)) {
        case UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CO: return true
        default: return false
        }
    }

    /// `\w` of https://docs.rs/regex: Alphabetic, the categories M, Nd and Pc, Join_Control.
    static func isWord(_ value: UInt32) -> Bool {
        if value < 0x80 {
            return (0x61...0x7A).contains(value | 0x20) || (0x30...0x39).contains(value) || value == 0x5F
        }
        if value == 0x200C || value == 0x200D { return true }
        switch utf8proc_category(Int32(bitPattern: value)) {
        case UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME, UTF8PROC_CATEGORY_ND,
            UTF8PROC_CATEGORY_PC:
            return true
        default: return Unicode.Scalar(value)?.properties.isAlphabetic ?? false
        }
    }

    private static func category(_ value: UInt32, in range: ClosedRange<utf8proc_category_t.RawValue>) -> Bool {
        range.contains(utf8proc_category(Int32(bitPattern: value)).rawValue)
    }
}
