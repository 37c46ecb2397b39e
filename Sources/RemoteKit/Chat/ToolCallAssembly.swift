import HubCore
import InferenceKit

/// Joins the fragments of tool calls. Providers differ: the index may be missing, the id empty or repeated, the name
/// null or repeated, a call whole in one piece.
struct ToolCallAssembly {
    private var calls: [(id: String?, name: String, arguments: String)] = []
    /// The call of each index.
    private var places: [Int64: Int] = [:]

    var isEmpty: Bool { calls.isEmpty }

    /// Takes a fragment of a stream, or a whole call.
    mutating func take(_ fragment: JSON) {
        let function = fragment["function"] ?? fragment
        let id = fragment["id"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let name = function["name"]?.string ?? ""
        let isWhole = !name.isEmpty && function["arguments"]?.string != "" && function["arguments"] != nil
        let place = place(index: fragment["index"]?.int, id: id, name: name, beginsAfterAWholeOne: isWhole)
        if calls[place].id == nil { calls[place].id = id }
        if calls[place].name.isEmpty { calls[place].name = name }
        switch function["arguments"] {
        case .string(let text): calls[place].arguments += text
        // Some give an object where the protocol has text.
        case .object(let object): calls[place].arguments += JSON.object(object).text()
        default: break
        }
    }

    /// - Parameter beginsAfterAWholeOne: whether the fragment is another call if the one before it is whole: several calls
    ///   without ids may come at one index.
    private mutating func place(index: Int64?, id: String?, name: String, beginsAfterAWholeOne: Bool) -> Int {
        func isOver(_ call: Int) -> Bool {
            beginsAfterAWholeOne && (try? JSON.parse(Array(calls[call].arguments.utf8)))?.object != nil
        }
        if let id, let known = calls.firstIndex(where: { $0.id == id }) {
            if let index { places[index] = known }
            return known
        }
        if let index {
            // Another id at a known index is another call.
            if let known = places[index], id == nil || calls[known].id == nil, !isOver(known) { return known }
            places[index] = calls.count
        } else if let last = calls.indices.last, id == nil || calls[last].id == nil, !isOver(last),
            name.isEmpty || calls[last].name.isEmpty || calls[last].name == name
        {
            return last
        }
        calls.append((nil, "", ""))
        return calls.count - 1
    }

    /// The calls in order.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for a call without a name.
    func finished() throws(AIError) -> [GeneratedToolCall] {
        var out: [GeneratedToolCall] = []
        for call in calls {
            guard !call.name.isEmpty else {
                throw AIError(
                    .protocolViolation, "the provider sends a tool call without the tool's name",
                    advice: "try again")
            }
            out.append(GeneratedToolCall(id: call.id, name: call.name, arguments: call.arguments))
        }
        return out
    }
}
