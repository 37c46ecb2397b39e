/// A connection to a catalog, with what it has read of the tables of names and of words. ``Catalog`` keeps it behind a
/// lock.
package final class CatalogConnection: Connection {
    /// The words of the search index.
    let words: IndexedWords
    /// The names that many models share.
    let names: SharedNames

    package override init(_ path: String, readOnly: Bool = false) throws(SQLiteError) {
        words = IndexedWords()
        names = SharedNames(words: words)
        try super.init(path, readOnly: readOnly)
    }

    /// What the transaction added is gone with it.
    override func transactionFailed() {
        names.forget()
        words.forget()
    }
}
