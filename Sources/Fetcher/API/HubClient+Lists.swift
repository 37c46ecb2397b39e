import HubCore

extension HubClient {
    /// Requests a page of a JSON list and parses it while it arrives; retries if that can help.
    ///
    /// - Parameter asked: called before each attempt, the first included.
    /// - Throws: ``AIError`` by ``HubFault``; ``ErrorCode/protocolViolation`` if the answer is not a list.
    func page<Entry>(
        _ address: String, into intake: ListIntake<Entry>, fault: HubFault, asked: () -> Void = {}
    ) async throws -> HTTPFields {
        let name = intake.name
        intake.begin()
        let answer = try await retrying(question(address), fault: fault) { request in
            asked()
            intake.restart()
            return try await http.response(to: request, limit: .max) { bytes in
                do {
                    try intake.take(bytes)
                    return nil
                } catch { return notAList(error, at: address, name) }
            }
        }
        do { try intake.finish() } catch { throw notAList(error, at: address, name) }
        return answer.fields
    }

    private func notAList(_ error: any Error, at address: String, _ name: String) -> AIError {
        switch error {
        case let error as AIError: error
        case JSONListReader.Fault.notAList(let byte) where byte == UInt8(ascii: "<"):
            notJSON(address, "not JSON", first: byte)
        case JSONListReader.Fault.notAList(let byte) where "{\"-0123456789ntf".utf8.contains(byte):
            AIError(.protocolViolation, "\(name) is not a JSON list")
        case JSONListReader.Fault.notAList: notJSON(address, "not JSON", first: nil)
        case JSONListReader.Fault.malformed(let reason): notJSON(address, "not JSON: \(reason)", first: nil)
        case JSONListReader.Fault.elementTooLarge:
            AIError(.protocolViolation, "\(name) has an entry of more than 2 MB")
        default: notJSON(address, "\(error)", first: nil)
        }
    }
}
