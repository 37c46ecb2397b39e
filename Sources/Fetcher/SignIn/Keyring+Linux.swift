#if os(Linux)
import CPlatform
import HubCore

/// The Secret Service of the desktop. It is asked on the session's bus, so a session without one has none.
struct Keyring: Sendable {
    /// nil if there is none, or the user wants none.
    init?(_ environment: HubEnvironment) {
        guard environment["DBUS_SESSION_BUS_ADDRESS"] != nil, !environment.isTrue("HUB_NO_KEYRING"),
            hub_keyring_is_there() != 0
        else { return nil }
    }

    /// Keeps a text; in place of one that has the same name.
    func store(_ text: String, as item: String) async throws {
        try await call { call, message in
            hub_keyring_store(call, item, "hub: \(item)", text, message.baseAddress, message.count)
        }
    }

    /// The text of an item; nil if there is none.
    func text(of item: String) async throws -> String? {
        let found = Lock<String?>(nil)
        try await call { call, message in
            hub_keyring_lookup(
                call, item,
                { context, text in
                    Unmanaged<Lock<String?>>.fromOpaque(context!).takeUnretainedValue()
                        .withLock { $0 = String(cString: text!) }
                }, Unmanaged.passUnretained(found).toOpaque(), message.baseAddress, message.count)
        }
        return found.withLock(\.self)
    }

    /// Removes an item.
    func remove(_ item: String) async throws {
        try await call { call, message in hub_keyring_clear(call, item, message.baseAddress, message.count) }
    }

    /// A call on a thread that may block: the desktop may ask its user to unlock the keyring.
    private func call(
        _ body: @escaping @Sendable (UnsafeMutableRawPointer?, UnsafeMutableBufferPointer<CChar>) -> Int32
    ) async throws {
        let call = Call()
        try await withTaskCancellationHandler {
            try await Blocking.run {
                var message = [CChar](repeating: 0, count: 512)
                let result = message.withUnsafeMutableBufferPointer { body(call.pointer, $0) }
                guard result != 0 else { return }
                let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                throw AIError(
                    .ioError, "the desktop's keyring fails: \(text.printable)",
                    advice: "unlock it, or set HUB_NO_KEYRING=1 and sign in again")
            }
        } onCancel: {
            hub_keyring_cancel(call.pointer)
        }
        try Task.checkCancellation()
    }

    /// GLib's cancellables may be used from any thread. https://docs.gtk.org/gio/class.Cancellable.html
    private final class Call: @unchecked Sendable {
        let pointer = hub_keyring_begin()
        deinit { hub_keyring_end(pointer) }
    }
}
#endif
