package import HubCore

extension Catalog {
    /// Keeps how fast a pull was, for estimates. Only the last hundred are kept.
    package func remember(bytes: Int64, seconds: Double, origin: String, at now: Double) throws(AIError) {
        try write { connection in
            // Two pulls may end at once; the time is what tells them apart.
            var at = now
            while try connection.first("SELECT 1 FROM bandwidth WHERE at = ?", at, map: { $0.int(0) }) != nil {
                at = at.nextUp
            }
            try connection.run(
                "INSERT INTO bandwidth (at, origin, bytes, seconds) VALUES (?, ?, ?, ?)", at, origin, bytes, seconds
            )
            try connection.run(
                "DELETE FROM bandwidth WHERE at NOT IN (SELECT at FROM bandwidth ORDER BY at DESC LIMIT 100)")
        }
    }

    /// Bytes a second of the last ten pulls from an origin, all their bytes over all their seconds; nil where there are none.
    package func bandwidth(origin: String) throws(AIError) -> (bytesPerSecond: Double, pulls: Int)? {
        try read { connection in
            try connection.first(
                """
                SELECT sum(bytes), sum(seconds), count(*) FROM
                (SELECT bytes, seconds FROM bandwidth WHERE origin = ? ORDER BY at DESC LIMIT 10)
                """, origin
            ) { row -> (Double, Int)? in
                guard row.int(2) > 0, row.double(1) > 0 else { return nil }
                return (row.double(0) / row.double(1), Int(row.int(2)))
            } ?? nil
        }
    }
}
