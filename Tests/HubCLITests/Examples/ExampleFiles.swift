import HubCore
import Support

/// The files that examples name, and the programs that they call.
enum ExampleFiles {
    private static let texts: [String: String] = [
        "answers.txt": "A ship.\nHamlet is a play by Shakespeare.\n",
        "book.json": """
        {"type":"object","required":["title","year"],"properties":{"title":{"type":"string","maxLength":8},\
        "year":{"type":"integer","minimum":1500,"maximum":1700}}}
        """,
        "docs/install.md": "# Install\n\nRun make install.\n",
        "mail.txt": "Buy now!\n",
        "messages.json": #"{"messages":[{"role":"user","content":"Hi"}]}"#,
        "models/org/tiny/config.json": "{}",
        "README.md": "# Read me\n",
        "sales.csv": series("units"),
        "talk.flac": "fLaC",
        "talk.mp3": "ID3",
        "texts.json": #"["The sea.","A ship."]"#,
        "weather.csv": series("rain"),
        "weather.json": """
        {"description":"The weather in a city.",\
        "parameters":{"type":"object","properties":{"city":{"type":"string"}}}}
        """,
        "week.gbnf": "root ::= day \" \" day\nday ::= \"Monday\" | \"Tuesday\"\n",
    ]

    private static func series(_ column: String) -> String {
        "day,\(column)\n" + (0..<80).map { "2024-\(10 + $0 / 28)-\(10 + $0 % 28 / 2),\($0 % 7)\n" }.joined()
    }

    static func write(into folder: String) throws {
        for (name, text) in texts { try write(Array(text.utf8), name, folder) }
        let book = try Fixtures.bytes("heldout.txt")
        for name in ["book.txt", "text.txt"] { try write(Array(book.prefix(1500)), name, folder) }
        for name in ["photo.jpg", "cat.jpg", "one.jpg", "two.jpg"] {
            try write(Fixtures.bytes("pictures/444.jpg"), name, folder)
        }
        try write(Fixtures.bytes("pictures/grey-1.png"), "photo.png", folder)
        // It answers with its arguments. A script of our own may still be open for writing in a process that another
        // test starts, and could not be run.
        try FileSystem.createSymlink("/bin/cat", at: Path.join(folder, "weather"))
    }

    private static func write(_ bytes: [UInt8], _ name: String, _ folder: String) throws {
        let place = Path.join(folder, name)
        try FileSystem.createDirectories(Path.parent(place))
        try FileSystem.replace(place, with: bytes)
    }

    /// Functions of bash in the place of programs that a machine may lack. `ssh` leads to another machine: a cache of
    /// its own. `fpath` is zsh's.
    static let programs = """
        set -o pipefail
        git() { printf 'diff --git a/sea b/sea\\n-one\\n+two\\n'; }
        jq() { grep '"value":' > /dev/null; }
        llama-cli() { test -s "$2"; }
        openssl() { echo 0123456789abcdef; }
        pass() { echo hf_pasted; }
        ssh() { shift; HF_HOME=$WORLD/there/hf HUB_HOME=$WORLD/there/state "$@"; }
        fpath[1]=$HOME
        """
}
