import HubCore

extension HubCall {
    /// One page of a list. `Link` holds the absolute address of the next page, which clients follow as is; its cursor
    /// counts the items so far.
    ///
    /// - Parameter render: makes an item's JSON; called only for this page's items.
    func page<Item>(
        _ items: [Item], size: Int, _ render: (Item) throws(HubFault) -> JSONObject
    ) throws(HubFault) -> HTTPResponse {
        let limit = min(try number("limit", atLeast: 1) ?? size, size)
        let start = try number("cursor", atLeast: 0) ?? 0
        let page = items.dropFirst(start).prefix(limit)
        var headers = HTTPHeaders()
        if start + page.count < items.count, !page.isEmpty {
            var next = query
            next["cursor"] = String(start + page.count)
            // admits(hosts:) has checked that there is exactly one Host and that it is allowed.
            headers["Link"] = "<\(request.origin)\(request.rawPath)?\(next.text)>; rel=\"next\""
        }
        var shown: [JSON] = []
        for item in page { shown.append(.object(try render(item))) }
        return .json(.array(shown), headers: headers)
    }

    private func number(_ key: String, atLeast least: Int) throws(HubFault) -> Int? {
        guard let text = query[key] else { return nil }
        guard let value = Int(text), value >= least else {
            throw .badRequest("\(key) is a number from \(least) on")
        }
        return value
    }
}
