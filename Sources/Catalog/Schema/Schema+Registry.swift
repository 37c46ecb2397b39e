extension Schema {
    /// What the user added to the curated list and what of it he hides: a row without an id hides the shipped entry of
    /// its alias. The shipped entries are never written here, so that an upgrade of hub changes them.
    static let registry = """
        CREATE TABLE registry (
            alias TEXT PRIMARY KEY,
            id TEXT, provider TEXT, name TEXT, description TEXT, size TEXT,
            context_length INTEGER, capabilities TEXT, parameters INTEGER, quantization TEXT,
            memory INTEGER, pick INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX registry_by_id ON registry (id) WHERE id IS NOT NULL;
        """
}
