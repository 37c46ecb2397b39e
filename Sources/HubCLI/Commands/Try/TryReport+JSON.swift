import HubCore
import InferenceKit

/// The document of `--json`.
extension TryReport {
    var json: JSONObject {
        let generated = generation ?? smoke?.generation
        return [
            "id": .string(id), "path": .string(path), "verdict": verdict.map { .string($0.rawValue) },
            "architecture": (facts?.architecture ?? facts?.modelType).map { .string($0) },
            "parameters": facts.map { .int($0.parameters) },
            "dtype": facts?.dominantDataType.map { .string($0) },
            "weights_bytes": facts.map { .int($0.weightsBytes) },
            "memory_bytes": inspectionView?.memoryBytes.map { .int($0) },
            "mode": smoke == nil && opening == nil ? nil : options.isExact ? "exact" : "fast",
            "checks": checks.map { checks in
                .array(
                    checks.map { check in
                        .object([
                            "name": .string(check.name), "status": .string(check.status.rawValue),
                            "detail": .string(check.detail),
                        ])
                    })
            },
            "findings": check.map { .array($0.findings.map(Self.json)) },
            "generation": generated.map(json), "speed": smoke?.speed.map(Self.json),
            "logits": logits.map { .array($0.map { .double(Double($0)) }) },
            "embeddings": embeddings.isEmpty
                ? nil : .array(embeddings.map { .array($0.result.vector.map { .double(Double($0)) }) }),
            "similar": similar.isEmpty
                ? nil
                : .array(similar.map { .object(["text": .string($0.text), "cosine": .double($0.cosine)]) }),
            "ranking": ranking, "index": index,
            "labels": answer(\.labels) ?? pictures.first.flatMap { labels($0.labels) },
            "objects": found.first.map { Self.json($0.objects) },
            "depth": maps.first?.depthJSON, "segments": maps.first?.segmentsJSON,
            "pictures": pictures.count + found.count + maps.count < 2
                ? nil
                : .array(
                    pictures.map { .object(["file": .string($0.file), "labels": labels($0.labels)]) }
                        + found.map { .object(["file": .string($0.file), "objects": Self.json($0.objects)]) }
                        + maps.map(\.json)),
            "output": written.map { .string($0) },
            "tokens": answer(\.tokens),
            "fill": answer(\.fill), "forecast": seriesJSON,
            "perplexity": perplexity.flatMap { $0.perplexity.isFinite ? .double($0.perplexity) : nil },
            "tokens_scored": perplexity.map { .int(Int64($0.tokensScored)) },
            "tokenized": tokenized.isEmpty
                ? nil
                : .array(
                    tokenized.map { entry in
                        .object([
                            "text": .string(entry.text), "ids": Self.ids(entry.ids),
                            "ids_with_special": Self.ids(entry.idsWithSpecial),
                            "decoded": .string(entry.decoded),
                            "decoded_skip_special": .string(entry.decodedSkipSpecial),
                        ])
                    }),
            "rendered": rendered.map { .string($0) },
            "inspection": inspection == nil ? nil : inspectionView?.json,
        ]
    }

    /// A picture's entry has its `file` besides.
    private var ranking: JSON? {
        guard ranksPictures, let list = answer(\.ranking)?.array else { return answer(\.ranking) }
        return .array(
            list.map { entry in
                var object = entry.object ?? [:]
                object["file"] = entry["text"]
                return .object(object)
            })
    }

    private func labels(_ labels: [TextLabel]) -> JSON? { EncoderAnswer.labels(labels).labels }

    private static func ids(_ ids: [Int]) -> JSON { .array(ids.map { .int(Int64($0)) }) }

    private func json(_ result: GenerationResult) -> JSON {
        .object([
            "prompt_ids": Self.ids(result.promptIDs), "ids": Self.ids(result.ids), "text": .string(result.text),
            "finish_reason": .string(result.finishReason.rawValue), "load_seconds": .double(result.loadSeconds),
            "ttft_seconds": result.ttftSeconds.map { .double($0) },
            "prompt_tokens_per_second": .double(result.promptTokensPerSecond),
            "tokens_per_second": .double(result.tokensPerSecond),
            // A seed may use all 64 bits, more than a JSON number is sure to keep.
            "seed": Int64(exactly: result.seed).map { .int($0) } ?? .string(String(result.seed)),
            "peak_memory_bytes": .int(result.peakMemoryBytes), "cached_tokens": .int(Int64(result.cachedTokens)),
            "drafted_tokens": .int(Int64(result.draftedTokens)),
            "accepted_tokens": .int(Int64(result.acceptedTokens)),
            "logprobs": logprobs.isEmpty ? nil : .array(logprobs.map(\.json)),
        ])
    }

    private static func json(_ speed: SmokeTest.Speed) -> JSON {
        .object([
            "load_seconds": .double(speed.loadSeconds), "tokens_per_second": .double(speed.tokensPerSecond),
            "weights_bytes_per_second": speed.weightsBytesPerSecond.map { .double($0.rounded()) },
            "memory_bytes_per_second": .double(speed.memoryBytesPerSecond.rounded()),
            "peak_memory_bytes": .int(speed.peakMemoryBytes),
        ])
    }

    private static func json(_ finding: CheckFinding) -> JSON {
        .object([
            "check": .string(finding.check), "status": .string(finding.status.rawValue),
            "file": finding.file.map { .string($0) }, "tensor": finding.tensor.map { .string($0) },
            "expected": finding.expected.map { .string($0) }, "found": finding.found.map { .string($0) },
            "detail": .string(finding.detail),
        ])
    }
}
