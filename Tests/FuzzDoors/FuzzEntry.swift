import HubCore
import Libc
import Support

// What Tests/FuzzMain and libFuzzer call: https://llvm.org/docs/LibFuzzer.html

/// The door that HUB_FUZZ_DOOR names.
private let chosen = FuzzDoor.all.first { $0.name == HubEnvironment.process["HUB_FUZZ_DOOR"] }

/// The names of all doors, a line each, if none is chosen; the door's inputs to begin with as files of HUB_FUZZ_SEEDS if
/// that is set.
///
/// - Returns: whether there is nothing else to do.
@_cdecl("hub_fuzz_prepare")
package func hubFuzzPrepare() -> Bool {
    guard let chosen else {
        for door in FuzzDoor.all { print(door.name) }
        return true
    }
    guard let folder = HubEnvironment.process["HUB_FUZZ_SEEDS"] else { return false }
    do {
        try FileSystem.createDirectories(folder)
        for input in try chosen.inputs() {
            try FileSystem.replace(Path.join(folder, input.name), with: input.bytes)
        }
    } catch { fatalError("\(error)") }
    return true
}

/// LLVMFuzzerTestOneInput: a fault ends the process, and libFuzzer keeps the input.
@_cdecl("hub_fuzz_read")
package func hubFuzzRead(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard let chosen else { return -1 }
    do { try chosen.read(Array(UnsafeBufferPointer(start: data, count: size))) } catch {
        fatalError("\(chosen.name): \(error)")
    }
    return 0
}

/// Exchanges values of a JSON document. Other inputs, and results that are too long, are left to libFuzzer.
///
/// - Returns: the new size; 0 if nothing was changed.
@_cdecl("hub_fuzz_mutate")
package func hubFuzzMutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ limit: Int, _ seed: UInt32) -> Int {
    var random = SeededRandom(number: seed)
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let json = try? JSON.parsePython(bytes) else { return 0 }
    let text = Array(random.mutated(json).text().utf8)
    guard text.count <= limit else { return 0 }
    _ = UnsafeMutableBufferPointer(start: data, count: text.count).update(fromContentsOf: text)
    return text.count
}
