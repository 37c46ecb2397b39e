import Libc
import Support

/// Serves `HonestRouter` to programs in other languages: the first line of output ends in the address. Ends with its
/// standard input.
let server = try InferenceStandIn { HonestRouter().answer($0) }
print("serving at \(server.address)")
fflush(nil)
while readLine() != nil {}
withExtendedLifetime(server) {}
