import HubCore

/// A pool of objects used by one thread at a time: creating one costs more than encoding most texts.
final class Pool<Element: AnyObject>: Sendable {
    // An object in the pool is unused; taking it out gives it to one thread.
    private struct Box: @unchecked Sendable { let element: Element }
    private let kept = Lock<[Box]>([])
    private static var most: Int { 8 }

    func take() -> Element? { kept.withLock { $0.popLast() }?.element }

    func giveBack(_ element: Element) {
        let box = Box(element: element)
        kept.withLock { if $0.count < Self.most { $0.append(box) } }
    }
}
