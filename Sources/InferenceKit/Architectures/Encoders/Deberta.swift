import HubCore
import ModelFormats

/// DeBERTa (https://arxiv.org/abs/2006.03654) and its versions 2 and 3 (https://arxiv.org/abs/2111.09543): distances have
/// vectors, which each layer compares with queries and keys.
extension Architecture {
    static let deberta = Architecture(
        "DeBERTa", ["deberta"], gguf: [], classes: .deberta("Deberta"), names: .deberta
    ) { settings throws(AIError) in
        let kinds = settings.scoreKinds
        var model = try settings.deberta(factor: 1 + kinds.count)
        if settings.flag("talking_head") == true { settings.refuse("talking_head", "true") }
        model.eachAttention { $0.hasKeyBias = false }
        guard settings.flag("relative_attention") == true else { return model }
        model.distances = .init(
            rows: 2 * (try settings.reach(model)), buckets: .middle(furthest: nil),
            vectors: .init(
                norm: nil, hasKeys: kinds.contains("c2p"), hasQueries: kinds.contains("p2c"), isShared: false,
                hasKeyBias: false))
        return model
    }

    static let debertaV2 = Architecture(
        "DeBERTa 2", ["deberta-v2"], gguf: [], classes: .deberta("DebertaV2"), names: .debertaV2
    ) { settings throws(AIError) in
        let kinds = Set(settings.scoreKinds).intersection(["c2p", "p2c"])
        var model = try settings.deberta(factor: 1 + kinds.count)
        if let size = settings.countIfAny("conv_kernel_size") {
            settings.refuse("conv_kernel_size", "\(size)")
        }
        guard settings.flag("relative_attention") == true else { return model }
        let reach = try settings.reach(model)
        let buckets = settings.placeIfAny("position_buckets").flatMap { $0 == 0 ? nil : $0 }
        if let buckets, !(2...1 << 20).contains(buckets) {
            throw .malformed(settings.path, "position_buckets is \(buckets), not from 2 to \(1 << 20)")
        }
        let isNormed = (settings.text("norm_rel_ebd") ?? "").lowercased().contains("layer_norm")
        model.distances = .init(
            rows: 2 * (buckets ?? reach), buckets: .middle(furthest: buckets == nil ? nil : reach),
            vectors: .init(
                norm: isNormed ? model.embedding.norm : nil, hasKeys: kinds.contains("c2p"),
                hasQueries: kinds.contains("p2c"), isShared: settings.flag("share_att_key") ?? false,
                hasKeyBias: true))
        return model
    }
}

extension Settings {
    /// What is added to the scores of content with content: `c2p`, `p2c`.
    fileprivate var scoreKinds: [String] {
        if let text = value("pos_att_type")?.string {
            return text.lowercased().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.filter { !$0.isWhitespace } }
        }
        return texts("pos_att_type") ?? []
    }

    /// The furthest distance that has a row of its own.
    fileprivate func reach(_ model: ModelDescription) throws(AIError) -> Int {
        let reach = placeIfAny("max_relative_positions").flatMap { $0 == 0 ? nil : $0 } ?? model.maxPositions
        // No table in the file bounds the positions.
        guard max(reach, model.maxPositions) <= 1 << 20 else {
            throw .malformed(path, "it has \(max(reach, model.maxPositions)) positions, more than \(1 << 20)")
        }
        return reach
    }

    /// - Parameter factor: the number of products that a score is the sum of.
    fileprivate mutating func deberta(factor: Int) throws(AIError) -> ModelDescription {
        var model = try encoder(epsilon: 1e-7)
        model.embedding.types = countIfAny("type_vocab_size")
        if flag("position_biased_input") == false { model.embedding.positions = nil }
        if let narrow = count("embedding_size"), narrow != model.width {
            refuse("embedding_size", "\(narrow)")
        }
        model.eachAttention { $0.scale = 1 / Float($0.headSize * factor).squareRoot() }
        return model
    }
}

extension [ModelClass] {
    fileprivate static func deberta(_ stem: String) -> [ModelClass] {
        [
            .base("\(stem)Model"),
            .words("\(stem)ForMaskedLM", "cls.predictions.transform", head: "cls.predictions"),
            // As the authors' checkpoints have it.
            .words("\(stem)ForMaskedLM", "lm_predictions.lm_head", head: "lm_predictions.lm_head"),
            ModelClass(
                "\(stem)ForSequenceClassification", .classification,
                [.headDense: "pooler.dense", .head: "classifier"]
            ) { settings, d throws(AIError) in
                let activation = settings.activation(settings.text("pooler_hidden_act"), default: .gelu)
                return .init(
                    rows: .first, dense: .init(width: d.width, activation: activation), hasBias: true,
                    outputs: .labels(try settings.labels()))
            },
            .tokenLabels("\(stem)ForTokenClassification"),
        ]
    }
}

extension ModelClass {
    fileprivate static func words(_ name: String, _ dense: String, head: String) -> ModelClass {
        .masked(name, dense: dense + ".dense", norm: dense + ".LayerNorm", head: head + ".decoder", bias: head)
    }
}

extension TensorNames {
    private static let table: [TensorRole: String] = [
        .distances: "encoder.rel_embeddings", .distancesNorm: "encoder.LayerNorm",
    ]

    fileprivate static let debertaV2: TensorNames = {
        var names = bert(
            "deberta.",
            [
                .query: "attention.self.query_proj", .key: "attention.self.key_proj",
                .value: "attention.self.value_proj", .distanceKey: "attention.self.pos_key_proj",
                .distanceQuery: "attention.self.pos_query_proj",
            ], heads: ["mask_predictions.", "lm_predictions."]
        ).with(table)
        names.ignored += ["embeddings.position_embeddings.weight"]
        return names
    }()

    fileprivate static let deberta: TensorNames = {
        var names = bert(
            "deberta.",
            [
                .query: "attention.self.in_proj", .distanceKey: "attention.self.pos_proj",
                .distanceQuery: "attention.self.pos_q_proj",
            ], heads: ["mask_predictions.", "lm_predictions."]
        ).with(table)
        names.packed = [[.query, .key, .value]]
        names.isPackedByHead = true
        names.plainBiases = [.query: "attention.self.q_bias", .value: "attention.self.v_bias"]
        names.ignored += ["embeddings.position_embeddings.weight"]
        return names
    }()
}
