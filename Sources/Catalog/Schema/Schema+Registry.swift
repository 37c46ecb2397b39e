extension Schema {
    /// The user's changes to the curated list: a row without an id hides the shipped entry of its alias. Shipped
    /// entries are never stored here, so that upgrades of hub can change them.
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
