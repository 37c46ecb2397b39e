import CPlatform
import Libc

/// The system's information about a terminal descriptor.
enum Terminal {
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Columns and rows; nil if the descriptor is not a terminal or its size is unknown (a serial line says 0).
    @Sendable static func size(_ descriptor: Int32) -> (columns: Int, rows: Int)? {
        var columns: UInt16 = 0
        var rows: UInt16 = 0
        guard hub_terminal_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else { return nil }
        return (Int(columns), Int(rows))
    }

    /// ncurses and libedit ask the C library which characters there are; nothing else here does. Where the user's locale is not
    /// installed, as on many servers, the one that every system brings will do.
    static func chooseLocale(_ isUnicode: Bool) {
        setlocale(LC_CTYPE, "")
        guard isUnicode, String(cString: nl_langinfo(nl_item(CODESET))) != "UTF-8" else { return }
        // The second is the name of older macOS.
        for name in ["C.UTF-8", "UTF-8"] where setlocale(LC_CTYPE, name) != nil { return }
    }
}
