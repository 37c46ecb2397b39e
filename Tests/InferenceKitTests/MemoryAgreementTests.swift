import HubCore
import InferenceKit
import ModelFormats
import Support
import Testing

/// The estimate before a download equals the kit's use.
@Suite struct MemoryAgreementTests {
    @Test(arguments: ["tiny-shakespeare", "tiny-shakespeare-sharded", "micro/llama"])
    func theEstimateIsTheKitsOwn(name: String) async throws {
        let folder = try Fixtures.path(name)
        let inspection = try await ModelInspection.inspect(folder: folder)
        let configuration = try ModelConfiguration.read(folder: folder)
        let need = MemoryNeed(weightsBytes: inspection.weightsBytes, configuration: configuration)
        #expect(need.bytes == inspection.memoryBytes())
        #expect(MemoryNeed(parameters: inspection.dataTypes)?.weightsBytes == inspection.weightsBytes)
    }
}
