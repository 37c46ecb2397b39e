import CKernels
import HubCore

/// Tokens by spelling and by id.
///
/// All spellings are in one block of memory with one flat hash table: a hundred thousand small strings would add a
/// second to opening a model. They are compared by bytes, because Swift's String treats canonically equivalent
/// spellings as equal.
struct Vocabulary: Sendable {
    /// The position of a spelling. Files are smaller than 4 GiB, and so are all spellings together.
    private struct Place {
        var start: UInt32
        /// The length of the spelling plus 1; 0 if there is none.
        var extent: UInt32

        static let none = Place(start: 0, extent: 0)
        var isNone: Bool { extent == 0 }
        var range: Range<Int> { Int(start)..<Int(start + extent - 1) }
    }

    private struct Slot {
        /// The upper half of the hash, which avoids nearly all comparisons of spellings.
        var tag: UInt32
        var id: Int32
        var place: Place
    }

    private var spellings: [UInt8] = []
    private var slots: [Slot]
    /// By id; sparse ids are in `distant`.
    private var places: [Place]
    private var distant: [Int32: Place] = [:]
    /// Whether tokens with the same spelling coexist.
    private(set) var hasAlike = false
    /// The ids in file order, including replaced ones.
    private var order: [Int32] = []

    /// An empty vocabulary for at most `count` tokens.
    init(count: Int) {
        var size = 16
        while 2 * size < 3 * count { size *= 2 }
        slots = [Slot](large: size, repeating: Slot(tag: 0, id: 0, place: .none))
        places = [Place](repeating: .none, count: count + count / 8 + 64)
        order.reserveCapacity(count)
        spellings.reserveCapacity(8 * count)
    }

    /// Adds a token; of two with the same spelling the later one is found.
    ///
    /// - Parameter keepsAlike: Whether the earlier one keeps its id; otherwise the id becomes free.
    /// - Returns: false if the id is taken.
    mutating func add(_ spelling: UnsafeBufferPointer<UInt8>, id: Int32, keepsAlike: Bool = false) -> Bool {
        add(spelling, ByteHash.hash(spelling), id: id, keepsAlike: keepsAlike)
    }

    /// Adds tokens in their order.
    ///
    /// - Returns: the first whose id is taken; nil if all were added.
    mutating func add(_ tokens: [(spelling: UnsafeBufferPointer<UInt8>, id: Int32)]) -> Int? {
        let keys = ByteHash.keys
        let hashes = tokens.map { ByteHash.hash($0.spelling, keys) }
        fetch(hashes)
        for (index, token) in tokens.enumerated() {
            guard add(token.spelling, hashes[index], id: token.id, keepsAlike: false) else { return index }
        }
        return nil
    }

    private mutating func add(
        _ spelling: UnsafeBufferPointer<UInt8>, _ hash: UInt64, id: Int32, keepsAlike: Bool
    ) -> Bool {
        precondition(order.count < slots.count && spelling.count < Int(Int32.max))
        guard place(of: id).isNone else { return false }
        let slot = slot(of: spelling, hash)
        var place = slots[slot].place
        if place.isNone {
            place = Place(start: UInt32(spellings.count), extent: UInt32(spelling.count) + 1)
            spellings.append(contentsOf: spelling)
        } else if keepsAlike {
            hasAlike = true
        } else {
            set(.none, of: slots[slot].id)
        }
        slots[slot] = Slot(tag: UInt32(truncatingIfNeeded: hash >> 32), id: id, place: place)
        set(place, of: id)
        order.append(id)
        return true
    }

    /// The id of a spelling.
    func id(of spelling: UnsafeBufferPointer<UInt8>) -> Int32? { id(of: spelling, ByteHash.hash(spelling)) }

    /// The id of a spelling with this hash, by ``ByteHash``.
    func id(of spelling: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Int32? {
        let slot = slots[slot(of: spelling, hash)]
        return slot.place.isNone ? nil : slot.id
    }

    /// The id of a spelling.
    func id(of spelling: [UInt8]) -> Int32? { spelling.withUnsafeBufferPointer { id(of: $0) } }

    /// The id of a spelling.
    func id(of spelling: String) -> Int32? { id(of: Array(spelling.utf8)) }

    /// The prefetch distance in lookups.
    static let ahead = 32

    /// Prefetches the slots of these hashes: the table exceeds the CPU caches.
    func fetch(_ hashes: some Collection<UInt64>) {
        let mask = slots.count - 1
        slots.withUnsafeBufferPointer { slots in
            spellings.withUnsafeBufferPointer { spellings in
                guard let slots = slots.baseAddress, let spellings = spellings.baseAddress else { return }
                for hash in hashes { hub_prefetch(slots + (Int(truncatingIfNeeded: hash) & mask)) }
                for hash in hashes {
                    let place = slots[Int(truncatingIfNeeded: hash) & mask].place
                    if !place.isNone { hub_prefetch(spellings + Int(place.start)) }
                }
            }
        }
    }

    /// Whether an id's spelling is the concatenation of two texts.
    func isSpelled(_ id: Int32, _ first: UnsafeBufferPointer<UInt8>, _ second: UnsafeBufferPointer<UInt8>) -> Bool {
        let place = place(of: id)
        guard !place.isNone, place.range.count == first.count + second.count else { return false }
        return spellings.withUnsafeBufferPointer { spellings in
            Self.begin(spellings, Int(place.start), with: first)
                && Self.begin(spellings, Int(place.start) + first.count, with: second)
        }
    }

    /// The spelling of an id.
    func spelling(of id: Int) -> ArraySlice<UInt8>? {
        guard let id = Int32(exactly: id) else { return nil }
        let place = place(of: id)
        return place.isNone ? nil : spellings[place.range]
    }

    /// The number of tokens, including replaced ones.
    var count: Int { order.count }
    /// The largest id.
    var largestID: Int? { order.max().map(Int.init) }
    /// Every id with its spelling.
    func forEach(_ body: (Int32, ArraySlice<UInt8>) -> Void) {
        for id in order {
            let place = place(of: id)
            if !place.isNone { body(id, spellings[place.range]) }
        }
    }

    /// Whether `▁` is a token and occurs in the wanted tokens only at the start, or as all characters: then no merge
    /// crosses the start of a word.
    func keepsWordsApart(where isWanted: (Int32) -> Bool = { _ in true }) -> Bool {
        let space = SentencePieceSpace.bytes
        guard id(of: space) != nil else { return false }
        var crosses = false
        forEach { id, spelling in
            guard !crosses, isWanted(id) else { return }
            var rest = spelling
            while rest.starts(with: space) { rest = rest.dropFirst(space.count) }
            crosses = rest.contains(space[0]) && Array(rest).firstRange(of: space) != nil
        }
        return !crosses
    }

    private func place(of id: Int32) -> Place {
        if id >= 0, Int(id) < places.count { return places[Int(id)] }
        return distant.isEmpty ? .none : distant[id] ?? .none
    }

    private mutating func set(_ place: Place, of id: Int32) {
        if id >= 0, Int(id) < places.count {
            places[Int(id)] = place
        } else {
            distant[id] = place.isNone ? nil : place
        }
    }

    /// The slot of the token with this spelling, or the free slot for it.
    private func slot(of spelling: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Int {
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        return slots.withUnsafeBufferPointer { slots in
            spellings.withUnsafeBufferPointer { spellings in
                let mask = slots.count - 1
                var slot = Int(truncatingIfNeeded: hash) & mask
                while !slots[slot].place.isNone {
                    if slots[slot].tag == tag, Self.isSame(spellings, slots[slot].place, spelling) { break }
                    slot = (slot + 1) & mask
                }
                return slot
            }
        }
    }

    /// Whether the bytes from an offset equal a text; there must be enough of them.
    private static func begin(
        _ spellings: UnsafeBufferPointer<UInt8>, _ start: Int, with text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let known = spellings.baseAddress, let sought = text.baseAddress else { return true }
        return ByteHash.areEqual(known + start, sought, count: text.count)
    }

    private static func isSame(
        _ spellings: UnsafeBufferPointer<UInt8>, _ place: Place, _ spelling: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        Int(place.extent) == spelling.count + 1 && begin(spellings, Int(place.start), with: spelling)
    }
}
