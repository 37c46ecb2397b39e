import HubCore

/// The headers of a model as large as Llama 3 70B, and every number of a gigabyte of weights.
enum Formats {
    private static let (shards, layers) = (30, 80)
    /// Those of a Llama layer, with their shapes for a width of 8192 and eight of 64 heads for keys and values.
    private static let layer: [(name: String, shape: [Int64])] = [
        ("self_attn.q_proj", [8192, 8192]), ("self_attn.k_proj", [1024, 8192]),
        ("self_attn.v_proj", [1024, 8192]), ("self_attn.o_proj", [8192, 8192]),
        ("mlp.gate_proj", [28672, 8192]), ("mlp.up_proj", [28672, 8192]), ("mlp.down_proj", [8192, 28672]),
        ("input_layernorm", [8192]), ("post_attention_layernorm", [8192]),
    ]

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard let own = CommandLine.arguments.first else { return [] }
        let box = try Sandbox(suite.folder("formats"))
        let folder = suite.folder("formats-70b")
        let file = Path.join(suite.largeFolder, "values.safetensors")
        try writeHeaders(folder)
        try writeValues(file)
        func task(_ arguments: String...) -> Command { Command(own, arguments, in: box.environment) }
        let reading = "adding up the same bytes"
        return [
            Contest(
                work: "headers of \(shards) shards, \(layers * layer.count + 3) tensors", measures: [.load],
                bars: [Bar(.load, .most(0.020))],
                ours: Contestant(name: "hub", command: task("headers", folder), inspect: inspectHeaders)),
            Contest(
                work: "every number of 1 GiB in bfloat16", measures: [.scan],
                bars: [Bar(.scan, .times(0.8), beside: reading)],
                ours: Contestant(name: "hub", command: task("scan", file), inspect: inspectSpeed),
                peers: [
                    .present(Contestant(name: reading, command: task("read", file), inspect: inspectSpeed))
                ]),
        ]
    }

    private static func inspectHeaders(_ output: String) throws -> [Measure: Double] {
        let json = try JSON.parse(output)
        guard let load = json["load_seconds"]?.double, json["tensors"]?.int == Int64(layers * layer.count + 3)
        else { throw AIError(.ioError, "the headers were not read as they are") }
        return [.load: load]
    }

    private static func inspectSpeed(_ output: String) throws -> [Measure: Double] {
        let json = try JSON.parse(output)
        guard let speed = json["bytes_per_second"]?.double, json["is_right"]?.bool == true else {
            throw AIError(.ioError, "finite numbers were taken for something else")
        }
        return [.scan: speed]
    }

    // MARK: Input

    /// Files that are as long as they should be and take no room.
    private static func writeHeaders(_ folder: String) throws {
        try FileSystem.createDirectories(folder)
        var tensors: [(name: String, shape: [Int64])] = [("model.embed_tokens.weight", [128_256, 8192])]
        for number in 0..<layers {
            tensors += layer.map { ("model.layers.\(number).\($0.name).weight", $0.shape) }
        }
        tensors += [("model.norm.weight", [8192]), ("lm_head.weight", [128_256, 8192])]
        var map = JSONObject()
        for shard in 0..<shards {
            let digits = ("0000\(shard + 1)".suffix(5), "0000\(shards)".suffix(5))
            let name = "model-\(digits.0)-of-\(digits.1).safetensors"
            let part = tensors[tensors.count * shard / shards..<tensors.count * (shard + 1) / shards]
            try write(Path.join(folder, name), Array(part))
            for tensor in part { map[tensor.name] = .string(name) }
        }
        let index = JSON.object(["metadata": .object([:]), "weight_map": .object(map)])
        try FileSystem.replace(
            Path.join(folder, "model.safetensors.index.json"), with: Array(index.text(.pretty).utf8))
    }

    /// Writes a header; the file is as long as it says. Where its numbers begin.
    @discardableResult
    private static func write(_ path: String, _ tensors: [(name: String, shape: [Int64])]) throws -> Int64 {
        var (header, end) = (JSONObject(), Int64(0))
        for tensor in tensors {
            let begin = end
            end += tensor.shape.reduce(2, *)
            header[tensor.name] = .object([
                "dtype": "BF16", "shape": .array(tensor.shape.map { .int($0) }),
                "data_offsets": .array([.int(begin), .int(end)]),
            ])
        }
        var bytes = Array(JSON.object(header).text().utf8)
        while bytes.count % 8 != 0 { bytes.append(0x20) }
        let length = withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) }
        try FileSystem.replace(path, with: length + bytes)
        try FileDescriptor(path, [.write]).truncate(to: Int64(8 + bytes.count) + end)
        return Int64(8 + bytes.count)
    }

    /// 64 tensors of numbers that look random, all of them small.
    private static func writeValues(_ path: String) throws {
        let begin = try write(path, (0..<64).map { ("t\($0)", [2048, 4096]) })
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 20, alignment: 8)
        defer { block.deallocate() }
        var noise = SplitMix64(state: 7)
        noise.fill(block)
        // The highest bit of the exponent: without it no number is infinite.
        for at in stride(from: 1, to: block.count, by: 2) { block[at] &= 0xBF }
        let file = try FileDescriptor(path, [.write])
        for number in 0..<Int64(64) {
            try file.write(UnsafeRawBufferPointer(block), at: begin + number * Int64(block.count))
        }
    }
}
