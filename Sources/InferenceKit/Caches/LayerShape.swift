import CKernels
import ModelFormats

extension KeyValueCache {
    /// What a layer keeps of a position.
    struct LayerShape: Sendable, Hashable {
        let kvHeads: Int
        let headSize: Int
        /// Numbers of a head of values.
        let valueSize: Int
        /// Positions that are seen; nil for all.
        let window: Int?
    }
}

extension KeyValueCache.LayerShape {
    /// Bytes of a page.
    func pageBytes(_ format: hub_cache_format) -> (keys: Int, values: Int) {
        (hub_page_bytes(format, kvHeads, headSize), hub_page_bytes(format, kvHeads, valueSize))
    }

    /// The most pages that a text of this length has at once.
    ///
    /// ``KeyValueCache/advance(to:)`` drops what is further behind than the window and a page: where it ends in the midst
    /// of one, that page is there still, and beside it the one that is written to. While a step begins in the midst of
    /// a page and ends in the next, there may be one more.
    func pages(_ length: Int) -> Int {
        let page = Int(HUB_PAGE)
        let all = length / page + (length % page == 0 ? 0 : 1)
        guard let window else { return all }
        return min(all, window / page + (window % page == 0 ? 0 : 1) + 2)
    }

    /// Bytes that a text of this length takes at most; at most `Int64.max`.
    func bytes(_ length: Int, _ format: hub_cache_format) -> Int64 {
        let (keys, values) = pageBytes(format)
        return Int64(pages(length)).multipliedClamped(by: Int64(keys + values))
    }

    /// Bytes of one position.
    func bytesPerPosition(_ format: hub_cache_format) -> Int64 {
        let (keys, values) = pageBytes(format)
        return Int64((keys + values) / Int(HUB_PAGE))
    }
}
