import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Settings of encoders that are not run, or make no sense.
@Suite struct EncoderSettingsTests {
    private func obstacles(_ fixture: String, _ changes: String) throws -> [RunObstacle] {
        var members = try #require(Fixtures.json("micro/\(fixture)/config.json").object)
        for (key, value) in try #require(JSON.parse(changes).object).members { members[key] = value }
        let configuration = try ModelConfiguration(.object(members), path: "config.json")
        return try #require(Architectures.of(configuration)).describe(configuration, stored: nil).obstacles
    }

    @Test func mobileBert() throws {
        #expect(try obstacles("mobilebert", "{}") == [])
        for (setting, value) in [
            ("normalization_type", "layer_norm" as JSON), ("key_query_shared_bottleneck", false),
        ] {
            #expect(
                try obstacles("mobilebert", #"{"\#(setting)":\#(value.text())}"#)
                    == [.setting(setting, value.string ?? value.text())])
        }
        for blocks in [17, 1_000_000_000] {
            let error = #expect(throws: AIError.self) {
                try obstacles("mobilebert", #"{"num_feedforward_networks":\#(blocks)}"#)
            }
            #expect(error?.code == .malformedModel)
        }
    }
}
