import HubAPI
import HubCore
import HubMedia
import HubServer
import InferenceKit

/// Models of pictures: labels, the order by a text, vectors. The script asks the API.
struct PicturesPage {
    let place: PagePlace
    let request: PageRequest

    func view() -> PageView {
        PageView(
            title: "Pictures", section: .pictures, modules: ["pictures.js"], styles: ["pictures.css"],
            content: [
                .tag("h1", [:], "Pictures"),
                .tag(
                    "form",
                    [
                        "class": "card looking live", "id": "looking", "data-model": request.query["model"],
                        "data-most-pixels": "\(SentPicture.limits.pixels)",
                    ],
                    [models(), sources(), .tag("ul", ["id": "chosen", "class": "chosen", "hidden": ""])]
                        + [ways(), labels(), query(), actions()]),
                .tag("noscript", [:], [.tag("p", ["class": "card"], "Pictures are sent by a script.")]),
                .tag("section", ["id": "results", "aria-label": "Results"]),
            ])
    }

    private func models() -> HTML {
        .box(
            "div", "row",
            [
                .tag("label", ["for": "model"], "Model"), .tag("select", ["id": "model"]),
                .tag("span", ["id": "for", "class": "faint small"]),
                .tag(
                    "span", ["id": "none", "hidden": ""],
                    [
                        "No model that reads pictures is on this machine yet. ",
                        .link("/?runs=1&task=\(ModelTask.zeroShotImages.rawValue)", "Find one"),
                    ]),
            ])
    }

    /// Inputs of files are hidden, and their labels are the buttons; the keyboard reaches the inputs.
    private func sources() -> HTML {
        .tag(
            "div", ["class": "drop", "id": "drop"],
            [
                .tag("p", [:], "Drop pictures here, paste them, or choose files."),
                .tag(
                    "input",
                    ["id": "files", "type": "file", "accept": "image/*", "multiple": "", "class": "hidden"]),
                .tag("label", ["for": "files", "class": "button"], "Choose pictures"),
                .tag(
                    "input",
                    [
                        "id": "camera", "type": "file", "accept": "image/*", "capture": "environment",
                        "class": "hidden", "aria-label": "Take a picture",
                    ]),
                .tag("label", ["for": "camera", "class": "button"], "Take a picture"),
                .tag("button", ["type": "button", "id": "clear", "class": "quiet", "hidden": ""], "Remove all"),
            ])
    }

    private func ways() -> HTML {
        let ways = [
            ("own", "Labels of the model"), ("tried", "Labels of your own"), ("ranking", "Rank by a text"),
            ("vectors", "Vectors"),
        ]
        let inputs = ways.map { value, text in
            HTML.tag(
                "label", ["class": "check", "hidden": ""],
                [.tag("input", ["type": "radio", "name": "way", "value": value]), .text(text)])
        }
        return .tag(
            "fieldset", ["id": "ways", "class": "ways", "hidden": ""],
            [.tag("legend", [:], "What is wanted")] + inputs)
    }

    private func labels() -> HTML {
        .tag(
            "div", ["id": "for-labels", "class": "asks", "hidden": ""],
            [
                field("labels", "Labels, with commas between them", placeholder: "cat, dog, bird"),
                field("template", "Sentence they are put in", value: PictureModel.labelTemplate),
            ])
    }

    private func query() -> HTML {
        .tag(
            "div", ["id": "for-query", "class": "asks", "hidden": ""],
            [field("query", "Text to rank by", placeholder: "a red car")])
    }

    private func field(_ id: String, _ name: String, placeholder: String? = nil, value: String? = nil) -> HTML {
        .tag(
            "label", ["class": "field"],
            [
                .text(name),
                .tag(
                    "input",
                    [
                        "id": id, "type": "text", "placeholder": placeholder, "value": value, "autocomplete": "off",
                    ]),
            ])
    }

    private func actions() -> HTML {
        .box(
            "div", "row",
            [
                .tag("button", ["id": "look", "class": "primary", "disabled": ""], "Look"),
                .tag("button", ["id": "stop", "type": "button", "hidden": ""], "Stop"),
                .tag("span", ["id": "state", "class": "faint small", "role": "status"]),
            ])
    }
}
