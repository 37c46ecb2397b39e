import HubCore

/// Quantiles that the model says at once.
extension Forecaster {
    func say(_ d: ForecastSettings.Quantiles, _ series: [Double], _ length: Int) async throws(AIError) -> Forecast {
        let patches = try SeriesPatches(d, series.suffix(contextLength))
        var rows = patches.rows.map { RowInput.patch($0) }
        // The second token of two.
        if d.hasRegister { rows.append(.token(1)) }
        let read = rows
        return try await queue.run { [self] isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let values = d.hasDecoder ? try answer(read) : try complete(read, d, length)
            // Of each row all values of the first share, then those of the next.
            let size = values[0].count / d.levels.count
            return Forecast(
                levels: d.levels,
                values: d.levels.indices.map { level in
                    values.flatMap { $0[level * size..<(level + 1) * size] }.prefix(length).map(patches.value)
                })
        }
    }

    /// One step of a decoder that answers what an encoder reads.
    private func answer(_ rows: [RowInput]) throws(AIError) -> [[Float]] {
        let session = Session(model, context: 1, format: format)
        session.begin([.token(start)], sharing: SourceText(rows))
        session.grow(to: 1)
        var values: [[Float]] = []
        try model.run(Step(session.rows([.token(start)], logitsFrom: 0)), workspace) { values.append(Array($1)) }
        return values
    }

    /// What an encoder makes of rows for the future, which it reads behind those of the series.
    private func complete(_ read: [RowInput], _ d: ForecastSettings.Quantiles, _ length: Int)
        throws(AIError) -> [[Float]]
    {
        let future = SeriesPatches.future(d, (length + d.size - 1) / d.size)
        let rows = read + future.map { .patch($0) }
        let cache = KeyValueCache(
            model.description.cacheShapes, format: format.kernel, capacity: rows.count)
        try model.run(
            Step(
                rows.enumerated().map {
                    StepRow(cache: cache, position: $0.offset, input: $0.element, length: rows.count)
                }), workspace)
        return try model.outputs(texts: (read.count..<rows.count).map { $0..<$0 + 1 }, workspace)
    }
}
