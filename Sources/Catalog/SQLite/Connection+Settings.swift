import HubCore

extension Connection {
    /// The settings of all of hub's files.
    ///
    /// - Parameter isPrecious: whether what a transaction wrote must survive a power cut, and what is there be read on a full
    ///   disk, too. Otherwise many readers and a quick writer count.
    ///
    /// WAL lets one process read while another writes, but needs shared memory, which network file systems lack.
    /// https://www.sqlite.org/wal.html
    package func configure(_ path: String, isPrecious: Bool = false) throws {
        // Readers in WAL mode write too: an index in shared memory, for which a full disk has no room.
        let mode = isPrecious || FileSystem.isOnNetwork(Path.parent(path)) ? "DELETE" : "WAL"
        let current = try first("PRAGMA journal_mode", map: { $0.text(0) })?.uppercased()
        if current != mode { try switchJournal(to: mode) }
        // In WAL mode NORMAL can lose the last transactions in a power cut, never the file's integrity.
        try execute("PRAGMA synchronous = \(isPrecious ? "FULL" : "NORMAL")")
        // The last two settings detect damage earlier and disable code in the schema. https://www.sqlite.org/security.html
        // On macOS a plain fsync leaves data in the drive's cache; elsewhere fullfsync has no effect.
        try execute(
            "PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"
        )
    }
}
