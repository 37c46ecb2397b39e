import HubCore

/// `hub diff`
enum DiffCommand {
    static let tensors = Switch(
        "tensors", "compare the values of all tensors, and say by how much they changed",
        detail: "What is not cached of the two is read from the Hub, tensor by tensor, and not kept.")
    static let sample = Option.whole(
        "sample", in: 1...10_000, "compare the values of only N places in each tensor",
        detail: "A place has 4 KiB. Of a model on the Hub only those are read.")
    static let all = Switch("all", "everything: not only what differs")
    static let exitCode = Switch("exit-code", "exit with 1 if there are differences")

    static let command = Command(
        name: "diff", doc: "compare two models, revisions or folders, down to their tensors",
        detail: """
            A and B are models with or without a revision, cached or on the Hub, or folders. + marks what only B has, - what \
            only A has, ~ what changed, and ! a tensor of another shape or type; with --all, = marks what is the same.

            Files are compared by their digests. If a safetensors or GGUF file differs, hub reads its header and lists the \
            tensors that were added, removed or reshaped. It reads the values of the other tensors only with --tensors or \
            --sample; the number behind a tensor is then the norm of the difference over the norm of A.

            After the tensors come the keys that differ in config.json and the files beside it, the tokenizer, the chat \
            template, and the metadata of weights. In JSON a tensor of a packed type (a quantized GGUF) has no relative \
            change.
            """,
        operands: [Operand("A", .one, .modelOrFolder), Operand("B", .one, .modelOrFolder)],
        flags: [tensors.flag, sample.flag, all.flag, exitCode.flag],
        examples: [
            .init("hub diff org/model@v1.0 org/model", "What changed since a tag."),
            .init(
                "hub diff org/base org/finetune --sample 8", "Which tensors were trained, from a few bytes of each."
            ),
            .init("hub diff org/model ./my-model --tensors --json", "A folder, for a program."),
        ],
        run: { try await run($0, Request($1)) })
}
