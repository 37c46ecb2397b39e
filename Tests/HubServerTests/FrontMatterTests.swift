import HubCore
import HubServer
import Testing

@Suite struct FrontMatterTests {
    @Test func readsScalarsAndLists() {
        let fields = FrontMatter.read(
            """
            ---
            # a comment
            license: apache-2.0
            language:
            - en
            - "de"
            tags: [mlx, 'text', chat]
            pipeline_tag: text-generation # what it does
            library_name: "transformers"
            gated: true
            rank: 7
            ---
            license: not-this
            """)
        #expect(fields["license"] == "apache-2.0")
        #expect(fields["language"] == .array(["en", "de"]))
        #expect(fields["tags"] == .array(["mlx", "text", "chat"]))
        #expect(fields["pipeline_tag"] == "text-generation")
        #expect(fields["library_name"] == "transformers")
        #expect(fields["gated"] == true)
        #expect(fields["rank"] == 7)
    }

    @Test func leavesOutWhatIsNested() {
        let fields = FrontMatter.read(
            """
            ---
            model-index:
            - name: x
              results:
              - task: y
            widget:
              deep:
                - item
            text: >
              folded
            base_model:
              - org/base
            eval: {a: 1}
            license: mit
            ---
            """)
        #expect(fields.keys == ["base_model", "license"])
        #expect(fields["base_model"] == .array(["org/base"]))
    }

    @Test(arguments: [
        "", "no front matter", "text\n---\nlicense: mit\n---\n", "---\nlicense: mit\n", " ---\nlicense: mit\n---\n",
    ])
    func isAbsent(_ text: String) { #expect(FrontMatter.read(text).count == 0) }

    @Test func readsWindowsLineEnds() {
        #expect(FrontMatter.read("---\r\nlicense: mit\r\ntags:\r\n- a\r\n---\r\n").keys == ["license", "tags"])
    }
}
