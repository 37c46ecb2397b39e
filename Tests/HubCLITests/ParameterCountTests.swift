import HubCore
import Testing

@testable import HubCLI

@Suite struct ParameterCountTests {
    @Test(
        arguments: [
            ("7B", 7_000_000_000), ("500M", 500_000_000), ("1.5e9", 1_500_000_000), ("1.5E+9", 1_500_000_000),
            ("0", 0), ("1234567", 1_234_567), ("0.6b", 600_000_000), ("1_000", 1000), ("7 B", 7_000_000_000),
            ("2.4T", 2_400_000_000_000), ("10k", 10_000), (".5M", 500_000), ("9e18", 9_000_000_000_000_000_000),
        ] as [(String, Int64)])
    func reads(_ text: String, _ number: Int64) throws {
        #expect(try ParameterCount(parsing: text).number == number)
    }

    @Test(arguments: [
        "", "B", "-1", "-7B", "7BB", "7G", "1,5B", "nan", "inf", "0x10", "1e99", "1e", "e9", "7B5", "٣B", "++1",
        "9.3e18",
        "1.2.3M",
    ])
    func refusesAndNamesTheText(_ text: String) {
        let error = #expect(throws: AIError.self, "\(text)") { try ParameterCount(parsing: text) }
        #expect(error?.code == .invalidInput && error?.message == "\"\(text)\" is not a number of parameters")
        #expect(error?.recoverySuggestion == "write it like 7B, 500M or 1.5e9")
    }
}
