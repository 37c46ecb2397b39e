import Testing

@testable import HubCLI

@Suite struct InterruptionTests {
    @Test func everyoneIsToldOnce() {
        let interruption = Interruption()
        let told = Recorder()
        interruption.onRequest { _ = told.sink.write([65]) }
        let key = interruption.onRequest { _ = told.sink.write([66]) }
        interruption.onRequest { _ = told.sink.write([67]) }
        interruption.remove(key)
        #expect(!interruption.isRequested)
        interruption.request()
        interruption.request()
        #expect(interruption.isRequested)
        #expect(told.text == "AC")
    }

    @Test func whoComesLateIsToldAtOnce() {
        let interruption = Interruption()
        interruption.request()
        let told = Recorder()
        interruption.onRequest { _ = told.sink.write([65]) }
        #expect(told.text == "A")
    }

    @Test func aClosureMayAskAgain() {
        let interruption = Interruption()
        interruption.onRequest {
            interruption.request()
            #expect(interruption.isRequested)
        }
        interruption.request()
    }

    @Test func aCommandThatEndsAllTheSameKeepsItsOwnStatus() async {
        let interruption = Interruption()
        let command = testCommand { context, _ in context.interruption.request() }
        #expect(await runInside("do", interruption: interruption, commands: [command]).status == 0)
    }
}
