import HubCore
import InferenceKit

/// The objects in a picture: as a table, in a pipe, in JSON.
extension TryReport {
    func showObjects(_ output: Output) {
        for (file, objects) in found {
            output.row(Styled(SafeText.line(file), .faint))
            if objects.isEmpty {
                output.line("no object was found; --threshold F shows less sure ones")
                continue
            }
            var table = Table([
                .init("OBJECT"), .init("SCORE", .right), .init("LEFT", .right), .init("TOP", .right),
                .init("RIGHT", .right), .init("BOTTOM", .right),
            ])
            for object in objects {
                table.add(
                    [Styled(SafeText.line(object.label), .strong), Styled(Self.rounded(object.score))]
                        + object.box.sides.map { Styled(Self.tenths($0)) })
            }
            output.table(table)
        }
    }

    /// A line of each.
    var quietObjects: [String] {
        found.flatMap { file, objects in
            objects.map { object in
                ([object.label, Self.rounded(object.score)] + object.box.sides.map(Self.tenths))
                    .joined(separator: " ")
            }
        }
    }

    static func json(_ objects: [FoundObject]) -> JSON {
        .array(
            objects.map { object in
                .object([
                    "label": .string(object.label), "score": .double(object.score),
                    "box": .array(object.box.sides.map { .double($0) }),
                ])
            })
    }

    /// One digit behind the point: less than a pixel is not seen.
    private static func tenths(_ side: Double) -> String { shortened(side, by: 10) }
    /// Two digits.
    static func hundredths(_ score: Double) -> String { shortened(score, by: 100) }

    private static func shortened(_ value: Double, by parts: Int) -> String {
        guard value.magnitude < 1e12 else { return "\(value)" }
        let whole = Int((value.magnitude * Double(parts)).rounded())
        let rest = String(whole % parts)
        let zeros = String(repeating: "0", count: String(parts).count - 1 - rest.count)
        return "\(value < 0 && whole > 0 ? "-" : "")\(whole / parts).\(zeros)\(rest)"
    }
}

extension ObjectBox {
    /// Left, top, right, bottom.
    fileprivate var sides: [Double] { [left, top, right, bottom] }
}
