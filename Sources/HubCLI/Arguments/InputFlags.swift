/// Inputs that are files, as every command that uses a model takes them.
enum InputFlags {
    static let attach = Option.text(
        "attach", "FILE", kind: .file, repeats: true,
        "an input that is a file: a picture, or a text where one is read",
        detail: """
            The kind comes from the content. Pictures are JPEG, PNG, WebP, GIF (the first frame) and BMP; HEIC and AVIF where \
            libheif is installed.
            """)
    static let index = Option.text(
        "index", "FILE", kind: .file,
        "keep the vectors of pictures in FILE, and compute only those that are new or changed",
        detail: """
            FILE is made if it is not there, and is of one model. Pictures are known by their paths and contents. With it \
            --attach takes folders, too: all pictures in them.
            """)
    static let texts = Option.text(
        "texts", "FILE", kind: .file, "a list of texts: a JSON list of strings, or one text a line; - is stdin")
    static let gguf = Option.text(
        "gguf", "FILE", kind: .ggufFile, "which GGUF file to use, by its name in the folder or repository",
        detail: "For a quantization write REF:Q4_K_M instead.")
    static let promptName = Option.text(
        "prompt-name", "NAME", "put this prompt of the model before texts that become vectors")
    static let dimensions = Option.whole(
        "dimensions", in: 1...1_000_000, "keep this many numbers of a vector, the first ones")
}
