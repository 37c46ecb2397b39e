/// What PyTorch's wrappers put before the name of every tensor, in a model that was saved without unwrapping it.
enum WrappedNames {
    /// DataParallel's and DistributedDataParallel's, torch.compile's, and Lightning's.
    /// https://github.com/pytorch/pytorch/blob/main/torch/nn/parallel/distributed.py (`self.module`)
    /// https://github.com/pytorch/pytorch/blob/main/torch/_dynamo/eval_frame.py (`_orig_mod`)
    /// https://github.com/Lightning-AI/pytorch-lightning/blob/master/src/lightning/fabric/wrappers.py
    /// (`_forward_module`)
    private static let wrappers = ["module.", "_orig_mod.", "_forward_module."]

    /// The wrappers, one in the other, that stand before all names; empty if one name has none.
    static func prefix(_ names: [String]) -> String {
        var prefix = ""
        guard !names.isEmpty else { return prefix }
        // A name may be long, so not more often than wrappers are nested.
        for _ in wrappers {
            let found = wrappers.map { prefix + $0 }.first { start in
                names.allSatisfy { $0.utf8.count > start.utf8.count && $0.hasPrefix(start) }
            }
            guard let found else { break }
            prefix = found
        }
        return prefix
    }
}
