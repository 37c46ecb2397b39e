import HubCore

/// The name that was probably meant.
enum NearestName {
    /// The nearest of the names, if it is near: at most one typo in a word of up to four letters, two up to eight, three in
    /// longer ones. Of equally near names the first wins.
    static func of(_ typed: String, among names: [String]) -> String? {
        let allowed = typed.count <= 4 ? 1 : typed.count <= 8 ? 2 : 3
        let word = Array(typed.lowercased().utf8)
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = EditDistance.between(word, Array(name.lowercased().utf8))
            if distance <= allowed, distance < min(best?.distance ?? .max, name.utf8.count) {
                best = (name, distance)
            }
        }
        // The beginning of exactly one name: an abbreviation.
        if best == nil, typed.count >= 2 {
            let longer = names.filter { $0.hasPrefix(typed) }
            if longer.count == 1 { return longer[0] }
        }
        return best?.name
    }
}
