package import HubCore

/// The scan result of one repository's cache folder, in the scanner's own encoding.
package struct RememberedScan: Sendable, Hashable {
    package var folder: String
    /// The data for lists, and the file states it depends on.
    package var summary: [UInt8]
    /// The complete result; nil if not requested yet.
    package var details: [UInt8]?

    package init(folder: String, summary: [UInt8], details: [UInt8]?) {
        self.folder = folder
        self.summary = summary
        self.details = details
    }
}

/// Bytes followed by a checksum: SQLite does not detect flipped bits in a value, and stored scans are shown without
/// reading the disk.
private enum Sealed {
    static func make(_ bytes: [UInt8], of folder: String) -> [UInt8] {
        bytes + withUnsafeBytes(of: bytes.withUnsafeBytes { checksum($0, folder) }.littleEndian, Array.init)
    }

    /// The bytes; nil if damaged.
    static func open(_ kept: UnsafeRawBufferPointer, of folder: String) -> UnsafeRawBufferPointer? {
        guard kept.count >= 8 else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: kept.dropLast(8))
        let said = UInt64(littleEndian: kept.loadUnaligned(fromByteOffset: bytes.count, as: UInt64.self))
        return said == checksum(bytes, folder) ? bytes : nil
    }

    /// FNV-1a of 64 bits. http://www.isthe.com/chongo/tech/comp/fnv/
    private static func checksum(_ bytes: UnsafeRawBufferPointer, _ folder: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in folder.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}

extension Catalog {
    /// Calls `body` with the summaries of a cache folder's scans, by repository folder; damaged ones are left out. The
    /// bytes are valid during the call.
    package func scans(ofCache path: String, _ body: (String, UnsafeRawBufferPointer) -> Void) throws(AIError) {
        _ = try read { connection in
            try connection.query(
                "SELECT folder, summary FROM repositories JOIN caches USING (cache) WHERE path = ?", path
            ) { row in
                let folder = row.text(0)
                row.withBlob(1) { kept in Sealed.open(kept, of: folder).map { body(folder, $0) } }
            }
        }
    }

    /// The stored details of a cache folder's scans, by repository folder.
    package func scanDetails(ofCache path: String) throws(AIError) -> [String: [UInt8]] {
        try read { connection in
            let rows = try connection.query(
                """
                SELECT folder, details FROM scans JOIN repositories USING (repository) JOIN caches USING (cache)
                WHERE path = ?
                """, path
            ) { row in
                let folder = row.text(0)
                return row.withBlob(1) { kept in Sealed.open(kept, of: folder).map { (folder, Array($0)) } }
            }
            return Dictionary(rows.compactMap { $0 }) { $1 }
        }
    }

    /// Replaces the scans of some repositories and removes those of others.
    package func remember(scans: [RememberedScan], gone: [String], ofCache path: String) throws(AIError) {
        try write { connection in
            try connection.run("INSERT INTO caches (path) VALUES (?) ON CONFLICT DO NOTHING", path)
            let cache = try connection.first("SELECT cache FROM caches WHERE path = ?", path, map: { $0.int(0) })
            for folder in gone + scans.map(\.folder) {
                try connection.run("DELETE FROM repositories WHERE cache = ? AND folder = ?", cache, folder)
            }
            for scan in scans {
                try connection.run(
                    "INSERT INTO repositories (cache, folder, summary) VALUES (?, ?, ?)", cache, scan.folder,
                    Sealed.make(scan.summary, of: scan.folder))
                guard let details = scan.details else { continue }
                try connection.run(
                    "INSERT INTO scans (repository, details) VALUES (?, ?)", connection.lastInsertedRow,
                    Sealed.make(details, of: scan.folder))
            }
        }
    }
}
