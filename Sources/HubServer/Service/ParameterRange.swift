import HubCore

/// The filter `num_parameters`: `min:6B,max:128B`, or one side alone.
struct ParameterRange: Hashable {
    var least: Double?
    var most: Double?

    init?(_ text: String) {
        for part in text.split(separator: ",") {
            let sides = part.split(separator: ":", maxSplits: 1)
            guard sides.count == 2, let value = Self.number(sides[1]) else { return nil }
            switch sides[0] {
            case "min": least = value
            case "max": most = value
            default: return nil
            }
        }
        if least == nil, most == nil { return nil }
    }

    /// A card without a parameter count is in no range.
    func contains(_ card: RepositoryCard) -> Bool {
        let count = card.fields["safetensors"]?["total"]?.double ?? card.fields["gguf"]?["total"]?.double
        guard let count else { return false }
        return count >= (least ?? 0) && count <= (most ?? .infinity)
    }

    private static func number(_ text: Substring) -> Double? {
        let units: [Character: Double] = ["K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12]
        guard let last = text.last, let unit = units[Character(last.uppercased())] else { return Double(text) }
        return Double(text.dropLast()).map { $0 * unit }
    }
}
