/// Who serves a model, and on what terms.
public struct ServedModel: Sendable, Hashable {
    /// The model on the Hub: `org/name`.
    public var model: String
    /// The offers, in the Hub's order.
    public var offers: [ServingOffer]
    /// When this was last heard, in seconds since 1970.
    public var heardAt: Double

    /// A model and its offers.
    public init(model: String, offers: [ServingOffer], heardAt: Double) {
        self.model = model
        self.offers = offers
        self.heardAt = heardAt
    }
}

/// A provider's offer to serve a model. What it does not tell is nil.
public struct ServingOffer: Sendable, Hashable {
    /// Whether an offer holds. The set is open.
    public struct Status: RawRepresentable, Sendable, Hashable {
        /// The Hub's word.
        public let rawValue: String
        /// A status by the Hub's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// It serves the model.
        public static let live = Status(rawValue: "live")
        /// It is being tried out.
        public static let staging = Status(rawValue: "staging")
        /// It failed the Hub's check.
        public static let error = Status(rawValue: "error")
    }

    /// US dollars per million tokens.
    public struct Price: Sendable, Hashable {
        /// Of the prompt.
        public var input: Double
        /// Of the answer.
        public var output: Double

        /// A price.
        public init(input: Double, output: Double) {
            self.input = input
            self.output = output
        }
    }

    /// The provider's name: `groq`.
    public var provider: String
    /// Whether it holds; nil if the Hub does not say.
    public var status: Status?
    /// The provider's own name of the model.
    public var providerID: String?
    /// The task: `conversational`, `feature-extraction`.
    public var task: String?
    /// Tokens of a prompt and its answer together.
    public var contextLength: Int?
    /// The price.
    public var price: Price?
    /// Whether the model may call tools.
    public var supportsTools: Bool?
    /// Whether an answer can be held to a JSON schema.
    public var supportsStructuredOutput: Bool?
    /// Whether it costs nothing.
    public var isFree: Bool?
    /// Milliseconds to the first token.
    public var firstTokenMilliseconds: Double?
    /// Tokens per second.
    public var throughput: Double?
    /// The low-rank addition on the Hub that the provider puts on its own base model, by its path there.
    public var adapterPath: String?

    /// An offer.
    public init(
        provider: String, status: Status? = nil, providerID: String? = nil, task: String? = nil,
        contextLength: Int? = nil, price: Price? = nil, supportsTools: Bool? = nil,
        supportsStructuredOutput: Bool? = nil, isFree: Bool? = nil, firstTokenMilliseconds: Double? = nil,
        throughput: Double? = nil, adapterPath: String? = nil
    ) {
        self.provider = provider
        self.status = status
        self.providerID = providerID
        self.task = task
        self.contextLength = contextLength
        self.price = price
        self.supportsTools = supportsTools
        self.supportsStructuredOutput = supportsStructuredOutput
        self.isFree = isFree
        self.firstTokenMilliseconds = firstTokenMilliseconds
        self.throughput = throughput
        self.adapterPath = adapterPath
    }
}
