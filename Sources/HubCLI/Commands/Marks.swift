/// The marks before a model in a list, in one column.
struct Marks {
    let cached: String
    let recommended: String
    let runs: String

    init(_ context: Context) {
        (cached, recommended, runs) = context.isUnicode ? ("●", "★", "▸") : ("*", "+", ">")
    }

    /// Each mark at its own place, so that a column can be looked down.
    func cell(isCached: Bool, isRecommended: Bool? = nil, runs isRunnable: Bool) -> Styled {
        var cell = isCached ? Styled(cached, .good) : Styled(" ")
        if let isRecommended { cell = cell + (isRecommended ? Styled(recommended, .caution) : Styled(" ")) }
        return cell + (isRunnable ? Styled(runs, .good) : Styled(" "))
    }
}
