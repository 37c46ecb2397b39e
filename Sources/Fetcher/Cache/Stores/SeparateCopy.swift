import HubCore

/// A copy that cannot become one with another.
package struct SeparateCopy: Sendable, Hashable {
    /// Why not.
    package enum Reason: Sendable, Hashable, CaseIterable {
        /// A program may write into one of the files, and the file system cannot share blocks.
        case mayBeRewritten
        /// Not of another program: in the trash, in a folder of one's own, or both in the cache.
        case notForeign
        case otherDisk
        /// Owner, group or mode differ, and names of one file share them.
        case unlike
        /// A copy would stay under another name.
        case furtherNames
        case unwritable
    }

    package var path: String
    package var second: String
    /// Bytes of the second copy.
    package var bytes: Int64
    package var reason: Reason

    /// The copies that ``AdoptionPlan`` leaves two.
    ///
    /// - Parameter stores: those with a file in one of these; nil for all.
    package static func all(_ survey: StoreSurvey, from stores: Set<Store>?) -> [SeparateCopy] {
        func store(_ place: StoreSurvey.Place) -> Store { survey.stores[place.store].store }
        let groups = survey.copies().filter { group in group.contains { stores?.contains(store($0)) ?? true } }
        return groups.flatMap { group in
            group.dropFirst().compactMap { place in
                let (first, second) = (survey.path(group[0]), survey.path(place))
                let reason = reason([store(group[0]), store(place)], first, second)
                return reason.map { .init(path: first, second: second, bytes: survey[place].bytes, reason: $0) }
            }
        }
    }

    /// nil where nothing is in the way, but the file is in use.
    private static func reason(_ stores: [Store], _ first: String, _ second: String) -> Reason? {
        if stores.allSatisfy({ $0.tool == .huggingface }) || stores.contains(where: { $0.part != nil }) {
            return .notForeign
        }
        if SharedContent.canShareBlocks(first, second) { return nil }
        guard stores.allSatisfy(\.tool.keepsFilesUnchanged) else { return .mayBeRewritten }
        // Which of the two is the one that would be replaced is not known here.
        return SharedContent.obstacle(first, over: second) ?? SharedContent.obstacle(second, over: first)
    }
}
