import HubCore

extension Connection {
    /// The settings of all of hub's files.
    ///
    /// WAL lets one process read while another writes, but needs shared memory, which network file systems lack.
    /// https://www.sqlite.org/wal.html
    package func configure(_ path: String) throws {
        let mode = FileSystem.isOnNetwork(Path.parent(path)) ? "DELETE" : "WAL"
        let current = try first("PRAGMA journal_mode", map: { $0.text(0) })?.uppercased()
        if current != mode { try switchJournal(to: mode) }
        // The last two settings detect damage earlier and disable code in the schema. https://www.sqlite.org/security.html
        // On macOS a plain fsync leaves data in the drive's cache; elsewhere fullfsync has no effect.
        try execute("PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
    }
}
