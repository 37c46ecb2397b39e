package import HubCore

/// Decides which tokens may come next: what makes an answer follow a grammar. Used by one generation at a time.
package protocol TokenMask: AnyObject, Sendable {
    /// Sets the logits of tokens that may not come next to -infinity.
    func ban(in logits: UnsafeMutableBufferPointer<Float>) throws(AIError)
    /// A token was chosen.
    func accept(_ id: Int)
}
