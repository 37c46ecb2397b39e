import KernelChecks
import Testing

@Suite struct KernelTests {
    /// In C, because other processors run it too, under an emulator: `make portable`.
    @Test func everyKernelGivesWhatTheScalarOnesGive() {
        var passed: CInt = 0
        #expect(hub_check_kernels(&passed) == 0, "what failed is in the output")
        #expect(passed > 700)
    }
}
