import HubCore
import Support
import Testing

@Suite struct ServeCommandTests {
    let stage: Stage

    init() throws { stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) } }

    @Test func theFirstLineIsTheAddressAndAnotherHubCanPullFromIt() async throws {
        let server = try stage.start("serve", stage.root.path)
        let address = String(try await server.wait(forText: "\n").dropLast())
        #expect(address.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+/) != nil)
        let pulled = try await stage.run("--endpoint", address, "pull", "org/tiny", "-q")
        #expect(pulled.status == 0 && pulled.error.isEmpty)
        server.interrupt()
        let result = try await server.wait()
        #expect(result.output == "\(address)\n" && result.error.isEmpty)
    }

    /// Being asked to stop is how a server ends, not a failure.
    @Test(arguments: [2, 15] as [Int32]) func aSignalIsItsOrdinaryEnd(signal: Int32) async throws {
        let server = try stage.start("serve", stage.root.path)
        try await server.wait(forText: "\n")
        server.send(signal)
        let result = try await server.wait()
        #expect(result.status == 0 && !result.wasKilled && result.error.isEmpty)
    }

    /// The document came when the server ended, too late for whoever wanted its address.
    @Test func theDocumentComesAtOnceAndIsTheOnlyOne() async throws {
        let server = try stage.start("serve", stage.root.path, "--json")
        try await server.wait(forText: "\n")
        server.interrupt()
        let result = try await server.wait()
        let document = try result.document()
        document.expectKeys("address")
        #expect(document["address"]?.string?.hasPrefix("http://127.0.0.1:") == true)
        #expect(result.status == 0)
    }

    /// The advice was about the files of a model.
    @Test func whatIsNoFolderIsExit3() async throws {
        try FileSystem.replace(stage.machine("file"), with: [])
        for word in ["nowhere", "file"] {
            let result = try await stage.run("serve", word)
            #expect(result.status == 3 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: there is no folder \(word)
                         hub serve takes a folder that holds org/name folders

                    """)
        }
        let none = try await stage.run("serve")
        #expect(none.status == 2)
        #expect(none.error == "hub: missing FOLDER\n     usage: hub serve [FLAGS] FOLDER\n")
    }

    @Test func aPortInUseIsExit6() async throws {
        let port = String(stage.hub.endpoint.split(separator: ":").last!)
        let result = try await stage.run("serve", stage.root.path, "--port", port)
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: cannot listen on 127.0.0.1:\(port): Address already in use
                     --port 0 takes a port that is free

                """)
    }

    @Test func offTheLoopbackItWantsATokenOfItsOwn() async throws {
        for variables in [[:], ["HF_TOKEN": "hf_mine"], ["HUB_SERVE_TOKEN": ""]] {
            let result = try await stage.run("serve", stage.root.path, "--host", "0.0.0.0", with: variables)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: 0.0.0.0 can be reached by others, and no token is set
                         set HUB_SERVE_TOKEN, or serve on 127.0.0.1

                    """)
        }
    }
}
