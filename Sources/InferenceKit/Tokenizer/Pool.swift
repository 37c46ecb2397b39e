import HubCore

/// Things that one thread uses at a time, kept for the next: making them costs more than most texts.
final class Pool<Element: AnyObject>: Sendable {
    // What is in the pool is in nobody's hands; taking it out hands it to one.
    private struct Box: @unchecked Sendable { let element: Element }
    private let kept = Lock<[Box]>([])
    private static var most: Int { 8 }

    func take() -> Element? { kept.withLock { $0.popLast() }?.element }

    func giveBack(_ element: Element) {
        let box = Box(element: element)
        kept.withLock { if $0.count < Self.most { $0.append(box) } }
    }
}
