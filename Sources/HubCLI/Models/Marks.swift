/// The marks before a model in a list, in one column.
struct Marks {
    let cached: String
    let recommended: String
    let runs: String

    init(_ context: Context) {
        (cached, recommended, runs) = context.isUnicode ? ("●", "★", "▸") : ("*", "+", ">")
    }

    /// What the marks mean that a list shows.
    static func legend(_ marks: [(isShown: Bool, mark: String, text: String)]) -> String {
        marks.filter(\.isShown).map { "\($0.mark) \($0.text)" }.joined(separator: ", ")
    }

    /// Each mark at its own place, so that a column can be looked down.
    ///
    /// - Parameters: nil takes no place.
    func cell(isCached: Bool, isRecommended: Bool? = nil, runs isRunnable: Bool? = nil) -> Styled {
        let places: [(isSet: Bool?, mark: String, style: Styled.Style)] = [
            (isCached, cached, .good), (isRecommended, recommended, .caution), (isRunnable, runs, .good),
        ]
        guard places.contains(where: { $0.isSet == true }) else { return "" }
        return places.reduce(into: Styled("")) { cell, place in
            if let isSet = place.isSet { cell.append(isSet ? Styled(place.mark, place.style) : " ") }
        }
    }
}
