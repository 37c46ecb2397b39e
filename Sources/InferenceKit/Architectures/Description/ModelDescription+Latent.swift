extension ModelDescription {
    /// Latent attention (https://arxiv.org/abs/2405.04434): keys and values of all heads are made of one narrow vector, which
    /// is cached, normalised, with a few rotated numbers that all heads share. Queries go through the matrix of the keys, and
    /// what is attended to through that of the values, so that neither is made of what is cached.
    struct Latent: Sendable, Hashable {
        /// Numbers of the vector.
        var rank: Int
        /// Numbers that queries are made of, normalised; nil where they are made of the rows.
        var queryRank: Int?
        /// Numbers of a head of queries that do not rotate,
        var plain: Int
        /// and those that do, after them.
        var rotated: Int
        /// Numbers that a head gives.
        var valueSize: Int
        /// Whether the file has the matrices of keys and values apart, those of keys turned: GGUF and MLX.
        var isSplit = false
        /// Whether what makes the narrow vectors has biases.
        var hasBias = false
        /// Of the narrow vectors.
        var norm: ModelDescription.Norm

        /// Numbers of a head of queries.
        var headSize: Int { plain + rotated }
    }
}

extension ModelDescription.Attention {
    /// Numbers of a head of values, as they are cached.
    var valueSize: Int { latent?.rank ?? headSize }

    /// The tensors of latent attention but for its output.
    ///
    /// - Parameter width: of the rows.
    func latentTensors(_ latent: ModelDescription.Latent, width: Int) -> [(
        role: TensorRole, isBias: Bool, shape: [Int]
    )] {
        let queries = heads * latent.headSize
        var needs: [(TensorRole, Bool, [Int])] = []
        func add(_ role: TensorRole, _ shape: Int..., hasBias: Bool = false) {
            needs.append((role, false, shape))
            if hasBias { needs.append((role, true, [shape[0]])) }
        }
        if let rank = latent.queryRank {
            add(.queryDown, rank, width, hasBias: latent.hasBias)
            add(.queryDownNorm, rank)
            add(.queryUp, queries, rank)
        } else {
            add(.query, queries, width)
        }
        add(.latent, headSize, width, hasBias: latent.hasBias)
        add(.latentNorm, latent.rank)
        if latent.isSplit {
            add(.latentKeys, heads, latent.rank, latent.plain)
            add(.latentValues, heads, latent.valueSize, latent.rank)
        } else {
            add(.latentUp, heads * (latent.plain + latent.valueSize), latent.rank)
        }
        return needs
    }
}
