import HubCore
import ModelFormats

/// `chronos_config` of config.json: how a model reads series and says how they go on
/// (https://github.com/amazon-science/chronos-forecasting).
struct ForecastSettings: Sendable, Hashable {
    /// The most values that are read: the last ones.
    let contextLength: Int
    /// The most values that are forecast.
    let horizon: Int
    let method: Method

    enum Method: Sendable, Hashable {
        case paths(Paths)
        case quantiles(Quantiles)
    }

    /// Values are tokens, and futures are drawn as texts are (Chronos, https://arxiv.org/abs/2403.07815).
    struct Paths: Sendable, Hashable {
        /// The first and the last bin's value, in means of sizes.
        let low: Double
        let high: Double
        let tokens: Int
        /// Tokens that are not bins; one more stands before the first bin.
        let specials: Int
        /// What ends a text,
        let end: Int
        /// and whether a series ends with it.
        let endsSeries: Bool
        /// The number of paths that are drawn.
        let samples: Int
        let temperature: Double
        let topK: Int
        /// nil for all.
        let topP: Double?
    }

    /// Values side by side are a row, and the model says which value a share of futures lie below: Chronos-Bolt, with a
    /// decoder that takes one step, and Chronos-2 (https://arxiv.org/abs/2510.15821), whose encoder also gets rows for the
    /// future.
    struct Quantiles: Sendable, Hashable {
        /// Values in a row.
        let size: Int
        /// The shares, rising, 0 to 1.
        let levels: [Double]
        /// Whether a token stands after the series.
        let hasRegister: Bool
        /// Of values after they are standardised.
        let usesArcsinh: Bool
        /// What times are divided by; nil where rows do not have them, and there is a decoder.
        let timeScale: Double?

        /// Numbers of a row: times, values, and which of them there are.
        var count: Int { (timeScale == nil ? 2 : 3) * size }
        var hasDecoder: Bool { timeScale == nil }
    }
}

extension ForecastSettings {
    private static let most = 1 << 20

    /// - Throws: ``ErrorCode/malformedModel`` for settings that are missing or contradict each other.
    init(_ settings: inout Settings) throws(AIError) {
        guard let told = settings.object("chronos_config") else {
            throw .malformed(settings.path, "it has no chronos_config")
        }
        let fields = Fields(told: told, path: settings.path)
        contextLength = try fields.size("context_length")
        guard told["input_patch_size"] == nil else {
            let quantiles = try Quantiles(fields, &settings)
            horizon =
                quantiles.hasDecoder
                ? try fields.size("prediction_length")
                : try fields.size("max_output_patches", else: 1, atMost: 1024) * quantiles.size
            method = .quantiles(quantiles)
            return
        }
        let kind = told["tokenizer_class"]?.string ?? "none"
        if kind != "MeanScaleUniformBins" || told["model_type"]?.string != "seq2seq" {
            settings.refuse("series as", kind)
        }
        horizon = try fields.size("prediction_length")
        method = .paths(try Paths(fields))
    }

    /// The members of `chronos_config`.
    fileprivate struct Fields {
        let told: JSONObject
        let path: String

        func number(_ name: String, in value: JSON?) throws(AIError) -> Double {
            guard let value = value?.double, value.isFinite else {
                throw .malformed(path, "\(name) of chronos_config is missing or not a finite number")
            }
            return value
        }

        /// A whole number from 0.
        func count(_ name: String, atMost most: Int = ForecastSettings.most) throws(AIError) -> Int {
            guard let value = Int(exactly: try number(name, in: told[name])), (0...most).contains(value) else {
                throw .malformed(path, "\(name) of chronos_config is not a whole number from 0 to \(most)")
            }
            return value
        }

        /// A whole number from 1.
        func size(_ name: String, else usual: Int? = nil, atMost most: Int = ForecastSettings.most) throws(AIError)
            -> Int
        {
            if let usual, told[name]?.isNull ?? true { return usual }
            let value = try count(name, atMost: most)
            guard value > 0 else { throw .malformed(path, "\(name) of chronos_config is 0") }
            return value
        }
    }
}

extension ForecastSettings.Paths {
    fileprivate init(_ fields: ForecastSettings.Fields) throws(AIError) {
        let limits = fields.told["tokenizer_kwargs"]
        low = try fields.number("low_limit", in: limits?["low_limit"])
        high = try fields.number("high_limit", in: limits?["high_limit"])
        (tokens, specials) = (try fields.size("n_tokens"), try fields.count("n_special_tokens"))
        (end, endsSeries) = (try fields.count("eos_token_id"), fields.told["use_eos_token"]?.bool == true)
        guard tokens - specials > 2, low < high, abs(low) <= 1e6, abs(high) <= 1e6, end < specials else {
            throw .malformed(fields.path, "the bins of chronos_config contradict each other")
        }
        samples = try fields.size("num_samples", atMost: 10_000)
        temperature = try fields.number("temperature", in: fields.told["temperature"])
        topK = try fields.size("top_k")
        let share = try fields.number("top_p", in: fields.told["top_p"])
        topP = share < 1 ? share : nil
    }
}

extension ForecastSettings.Quantiles {
    fileprivate init(_ fields: ForecastSettings.Fields, _ settings: inout Settings) throws(AIError) {
        let told = fields.told
        size = try fields.size("input_patch_size", atMost: 4096)
        let stride = try fields.size("input_patch_stride", else: size)
        if stride != size { settings.refuse("patches of", "\(size) values every \(stride)") }
        levels = told["quantiles"]?.array?.compactMap(\.double) ?? []
        guard let first = levels.first, let last = levels.last, levels.count <= 1000, first > 0, last < 1,
            zip(levels, levels.dropFirst()).allSatisfy({ $0 < $1 }),
            levels.count == told["quantiles"]?.array?.count
        else {
            throw .malformed(fields.path, "quantiles of chronos_config are not rising numbers between 0 and 1")
        }
        hasRegister = told["use_reg_token"]?.bool ?? false
        usesArcsinh = told["use_arcsinh"]?.bool ?? false
        if told["output_patch_size"] == nil {
            timeScale = nil
        } else {
            guard try fields.size("output_patch_size") == size else {
                throw .malformed(fields.path, "output_patch_size and input_patch_size of chronos_config differ")
            }
            timeScale = Double(
                try fields.size("time_encoding_scale", else: try fields.size("context_length")))
        }
    }
}
