import HubCore
import InferenceKit

extension TryReport {
    /// What a model says of each pixel of a picture, in short.
    struct PictureMap: Sendable {
        struct Depth: Sendable {
            var width: Int
            var height: Int
            var min: Float
            var max: Float
        }

        struct Segment: Sendable {
            var label: String
            var score: Double
            var pixels: Int
        }

        var file: String
        var depth: Depth?
        var segments: [Segment]?
    }

    var quietMaps: [String] {
        maps.flatMap { map in
            (map.depth.map { ["\($0.min) \($0.max)"] } ?? []) + (map.segments?.map(\.label) ?? [])
        }
    }

    func showMaps(_ output: Output) {
        for map in maps {
            output.row(Styled(SafeText.line(map.file), .faint))
            if let depth = map.depth {
                let (least, most) = (Self.rounded(Double(depth.min)), Self.rounded(Double(depth.max)))
                output.line(
                    Styled("depth of \(depth.width) by \(depth.height) pixels, from \(least) to \(most)"))
            }
            if let segments = map.segments {
                var table = Table([.init("LABEL", least: 12), .init("SCORE", .right), .init("PIXELS", .right)])
                for segment in segments {
                    table.add([
                        Styled(SafeText.line(segment.label)), Styled(Self.rounded(segment.score)),
                        Styled(Humanize.grouped(segment.pixels)),
                    ])
                }
                output.table(table)
            }
        }
    }
}

extension TryReport.PictureMap {
    var depthJSON: JSON? {
        depth.map {
            .object([
                "width": .int(Int64($0.width)), "height": .int(Int64($0.height)), "min": .double(Double($0.min)),
                "max": .double(Double($0.max)),
            ])
        }
    }

    var segmentsJSON: JSON? {
        segments.map { segments in
            .array(
                segments.map {
                    .object([
                        "label": .string($0.label), "score": .double($0.score), "pixels": .int(Int64($0.pixels)),
                    ])
                })
        }
    }

    /// Of one of several pictures.
    var json: JSON { .object(["file": .string(file), "depth": depthJSON, "segments": segmentsJSON]) }
}
