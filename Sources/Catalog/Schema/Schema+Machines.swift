extension Schema {
    /// How fast the machines that share the catalog read memory, by host name and number of threads: the best rate, when
    /// that was, and the last measurement. It is soon measured again, so that it is not kept where the catalog is lost.
    static let machines = """
        CREATE TABLE machines (
            name TEXT NOT NULL, threads INTEGER NOT NULL, bytes_per_second REAL NOT NULL, best_at REAL NOT NULL,
            measured_at REAL NOT NULL,
            PRIMARY KEY (name, threads)
        ) STRICT, WITHOUT ROWID;
        """
}
