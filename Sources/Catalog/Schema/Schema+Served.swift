extension Schema {
    /// Who serves which model, as the Hub's mapping and the router's list said last: the offers as a list in
    /// JSON. The Hub tells it again, so that it is not kept where the catalog is lost.
    static let served = """
        CREATE TABLE served (
            source TEXT NOT NULL, model TEXT NOT NULL, heard_at REAL NOT NULL, offers TEXT NOT NULL,
            PRIMARY KEY (source, model)
        ) STRICT, WITHOUT ROWID;
        """
}
