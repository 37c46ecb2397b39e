import Fetcher
import HubCore
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct DownloadStateTests {
    private static let folder = URL(filePath: "/cache/snapshot")
    private static let error = AIError(.diskFull, "no room", context: .init(path: "/cache"))
    /// Each state, whether it is active, and whether it is terminal.
    private static let states: [(DownloadState, isActive: Bool, isTerminal: Bool)] = [
        (.pending, true, false), (.downloading, true, false), (.verifying, true, false), (.paused, false, false),
        (.completed(folder), false, true), (.completed(URL(filePath: "/other")), false, true),
        (.failed(error), false, true), (.failed(AIError(.diskFull, "no room")), false, true),
        (.failed(AIError(.ioError, "no room", context: .init(path: "/cache"))), false, true),
        (.cancelled, false, true),
    ]

    @Test func eachStateIsAtWorkOrRestingOrOver() {
        for (state, isActive, isTerminal) in Self.states {
            #expect(state.isActive == isActive && state.isTerminal == isTerminal, "\(state)")
        }
    }

    @Test func statesAreTheSameOnlyAsThemselves() {
        for (index, (left, _, _)) in Self.states.enumerated() {
            for (other, (right, _, _)) in Self.states.enumerated() { #expect((left == right) == (index == other)) }
        }
        #expect(Set(Self.states.map(\.0)).count == Self.states.count)
        // An error's cause does not affect equality.
        let beneath = AIError(.diskFull, "no room", context: .init(path: "/cache"), cause: CancellationError())
        #expect(DownloadState.failed(beneath) == .failed(Self.error))
        #expect(Set([DownloadState.failed(beneath), .failed(Self.error)]).count == 1)
    }
}
