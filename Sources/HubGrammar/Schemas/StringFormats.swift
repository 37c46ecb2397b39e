/// The formats of strings, as regular expressions.
enum StringFormats {
    /// Every day of the calendar from year 1: the leap day only in leap years.
    private static let year = "(?:000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d{3})"
    private static let leapYear =
        "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
    private static let date =
        "(?:\(year)-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)"
        + "|02-(?:0[1-9]|1\\d|2[0-8]))|\(leapYear)-02-29)"
    /// RFC 3339, section 5.6, without leap seconds, which few programs read.
    private static let time =
        "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)"
    private static let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}"
    private static let label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    private static let letters = "A-Za-z0-9._~!$&'()*+,;=:@"
    private static let segment = "(?:[\(letters)-]|%[0-9A-Fa-f]{2})"
    private static let host = "(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)"

    private static let sources = [
        ("date", date),
        ("time", time),
        ("date-time", "\(date)T\(time)"),
        // RFC 5321's Mailbox with a Dot-string and a domain.
        ("email", "\(atom)(?:\\.\(atom)){0,3}@\(label)(?:\\.\(label)){1,5}"),
        ("uuid", "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
        // RFC 3986 with a host name, or a path that is not empty.
        (
            "uri",
            "[A-Za-z][A-Za-z0-9+.-]*:(?://\(host)(?::\\d{1,5})?(?:/\(segment)*)*|\(segment)+(?:/\(segment)*)*)"
                + "(?:\\?(?:\(segment)|[/?])*)?(?:#(?:\(segment)|[/?])*)?"
        ),
    ]

    /// The patterns by name; each is the whole string.
    static let patterns: [String: CharacterPattern] = Dictionary(
        uniqueKeysWithValues: sources.map { name, source in
            do { return (name, try PatternParser.parse(source)) } catch { preconditionFailure("\(error)") }
        })
}
