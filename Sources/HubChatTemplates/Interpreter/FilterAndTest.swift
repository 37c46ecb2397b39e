extension Jinja {
    /// A filter: `value | filter`.
    enum Filter: Sendable {
        /// With named parameters; nil for those not given.
        case fixed([Text], @Sendable (Run, Value, [Value?]) throws(Fault) -> Value)
        /// With any arguments.
        case open(@Sendable (Run, Value, Arguments) throws(Fault) -> Value)
    }

    /// A test: `value is test`.
    struct Test: Sendable {
        var parameters: [Text] = []
        var body: @Sendable (Run, Value, [Value]) throws(Fault) -> Bool
    }
}
