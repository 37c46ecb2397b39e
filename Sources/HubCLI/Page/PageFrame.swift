import HubCore
import HubServer

/// The frame around each view, and the headers of each answer.
struct PageFrame {
    let hasAPI: Bool

    /// Nothing from elsewhere, and no script or style in the markup. `form-action` lets a search work without scripts.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

    // Without a referrer at all a form would be sent with `Origin: null`.
    static let headers: HTTPHeaders = [
        "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    ]

    func response(_ view: PageView, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status, headers: ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"],
            body: .bytes(Array("<!DOCTYPE html>\(document(view).text)".utf8)))
    }

    private func document(_ view: PageView) -> HTML {
        .tag("html", ["lang": "en"], [.tag("head", [:], head(view)), body(view)])
    }

    private func head(_ view: PageView) -> [HTML] {
        [
            .tag("meta", ["charset": "utf-8"]),
            .tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            .tag("meta", ["name": "color-scheme", "content": "light dark"]),
            .tag("title", [:], view.title == "hub" ? "hub" : "\(view.title) – hub"),
            .tag("link", ["rel": "icon", "href": PageAssets.path("icon.svg")]),
        ]
            + (["page.css"] + view.styles).map { .tag("link", ["rel": "stylesheet", "href": PageAssets.path($0)]) }
            // No module: it runs before anything is drawn.
            + [.tag("script", ["src": PageAssets.path("theme.js")])]
            + (["page.js"] + view.modules).map { .tag("script", ["type": "module", "src": PageAssets.path($0)]) }
    }

    private func body(_ view: PageView) -> HTML {
        .tag(
            "body", ["data-view": view.section?.rawValue],
            [
                .link("#main", "Skip to content", className: "skip"), bar(view),
                .tag("main", ["id": "main", "tabindex": "-1"], view.content),
                // They exist before their text, or screen readers say nothing.
                .tag("div", ["id": "toasts", "class": "toasts", "role": "status", "aria-live": "polite"]),
                .tag("div", ["id": "alerts", "class": "toasts alerts", "role": "alert"]),
            ])
    }

    private func bar(_ view: PageView) -> HTML {
        .box(
            "header", "bar",
            [
                .tag("a", ["href": "/", "class": "brand", "aria-label": "hub, all models"], "hub"),
                view.hasPlaces ? places(view.section) : [],
                .tag("label", ["for": "theme", "class": "hidden"], "Theme"),
                .tag(
                    "select", ["id": "theme", "class": "live"],
                    ["auto", "light", "dark"].map { .tag("option", ["value": $0], $0.withCapital) }),
            ])
    }

    private func places(_ current: PageSection?) -> HTML {
        let places = PageSection.allCases.filter { hasAPI || ![.chat, .pictures].contains($0) }
        let items = places.map { place -> HTML in
            let isCurrent = place == current
            var text: [HTML] = [.text(place.name)]
            if place == .downloads {
                text.append(.tag("span", ["class": "count", "id": "downloads-count", "hidden": ""]))
            }
            return .tag(
                "li", [:],
                [.tag("a", ["href": place.address, "aria-current": isCurrent ? "page" : nil], text)])
        }
        return .tag("nav", ["aria-label": "Main"], [.tag("ul", [:], items)])
    }
}
