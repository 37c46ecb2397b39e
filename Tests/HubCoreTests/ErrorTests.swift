import HubCore
import Testing

@Suite struct ErrorCodeTests {
    @Test(arguments: ErrorCode.allCases)
    func everyCodeHasAStatusOfTheContractAndAdviceWithoutAFullStop(_ code: ErrorCode) {
        #expect([2, 3, 4, 5, 6, 7, 130].contains(code.facts.exitStatus))
        if let advice = code.facts.advice {
            #expect(!advice.isEmpty && !advice.hasSuffix(".") && !advice.contains("\n"))
        }
        #expect(code.rawValue.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "_") })
    }

    @Test(
        arguments: [
            (2, [.invalidInput, .contextFull, .confirmationRequired]),
            (
                3,
                [
                    .repositoryNotFound, .revisionNotFound, .fileNotFound, .nothingMatches, .notCached,
                    .modelNotServed,
                    .modelRetired,
                ]
            ),
            (4, [.unauthorized, .gated, .disabled, .paymentRequired, .forbidden]),
            (
                5,
                [
                    .unreachable, .timedOut, .connectionLost, .rateLimited, .serverError, .serviceUnavailable,
                    .gatewayTimedOut, .requestTooLarge, .requestRejected, .streamInterrupted, .protocolViolation,
                    .offline,
                ]
            ), (6, [.diskFull, .permissionDenied, .ioError, .catalogUnusable, .insufficientMemory]),
            (
                7,
                [
                    .digestMismatch, .fileChanged, .malformedModel, .unsupportedModel, .unreadableFile,
                    .generationFailed,
                ]
            ),
            (130, [.cancelled]),
        ] as [(Int32, [ErrorCode])])
    func theStatusesAreThoseOfTheContract(_ status: Int32, _ codes: [ErrorCode]) {
        #expect(ErrorCode.allCases.filter { $0.facts.exitStatus == status } == codes)
    }

    @Test func onlyWhatMayPassByItselfCanBeTriedAgain() {
        #expect(
            ErrorCode.allCases.filter(\.facts.isRetryable) == [
                .unreachable, .timedOut, .connectionLost, .rateLimited, .serverError, .serviceUnavailable,
                .gatewayTimedOut, .streamInterrupted, .digestMismatch,
            ])
    }
}

@Suite struct AIErrorTests {
    private struct Other: Error, CustomStringConvertible { var description: String { "something else" } }

    @Test func anErrorSaysWhatItsCodeImplies() {
        let error = AIError(.gated, "org/name is gated", context: .init(repository: "org/name", status: 403))
        #expect(error.exitStatus == 4 && error.category == .network && !error.isRetryable)
        #expect(error.description == "org/name is gated" && error.errorDescription == "org/name is gated")
        #expect(error.recoverySuggestion == ErrorCode.gated.facts.advice)
        #expect(AIError(.gated, "x", advice: "do this").recoverySuggestion == "do this")
    }

    @Test func cancellationStaysCancellation() {
        let error = AIError.wrapping(CancellationError())
        #expect(error.code == .cancelled && error.exitStatus == 130)
    }

    @Test func aKnownErrorIsNotWrappedAgainAndAnotherIsItsCause() {
        let known = AIError(.timedOut, "too late", context: .init(path: "/x"))
        #expect(AIError.wrapping(known).code == .timedOut && AIError.wrapping(known).context == known.context)
        let other = AIError.wrapping(Other())
        #expect(other.code == .ioError && other.message == "something else" && other.cause is Other)
    }

    @Test(
        arguments: [
            (28, .diskFull), (13, .permissionDenied), (1, .permissionDenied), (30, .permissionDenied),
            (2, .ioError),
            (5, .ioError),
        ] as [(Int32, ErrorCode)])
    func aSystemCallsErrorCarriesThePathAndTheErrno(_ number: Int32, _ code: ErrorCode) {
        let error = AIError.system("cannot open", path: "/some/where", errno: number)
        #expect(error.code == code && error.errno == number && error.context.path == "/some/where")
        #expect(error.message.hasPrefix("cannot open /some/where: "))
        #expect(AIError(.ioError, "x").errno == nil)
    }
}
