// swift-tools-version: 6.1
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// One target of Swift code with the settings that all of them share.
func library(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: ["Libc"] + dependencies, resources: resources, swiftSettings: swiftSettings)
}

/// The test target of one target; Support holds what several of them need.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.target(name: name), "Support"] + dependencies,
        swiftSettings: swiftSettings)
}

/// A C library of the system: found by pkg-config, installed by apt-get or Homebrew.
func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

let package = Package(
    name: "hub",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "hub", targets: ["HubMain"]),
        .library(name: "HubCore", targets: ["HubCore"]),
        .library(name: "Catalog", targets: ["Catalog"]),
        .library(name: "Fetcher", targets: ["Fetcher"]),
        .library(name: "HubTokenizers", targets: ["HubTokenizers"]),
        .library(name: "HubChatTemplates", targets: ["HubChatTemplates"]),
        .library(name: "HubGrammar", targets: ["HubGrammar"]),
        .library(name: "HubMedia", targets: ["HubMedia"]),
        .library(name: "InferenceKit", targets: ["InferenceKit"]),
        .library(name: "RemoteKit", targets: ["RemoteKit"]),
        .library(name: "MemoryKit", targets: ["MemoryKit"]),
    ],
    targets: [
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
        system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev", brew: "openssl@3"),
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
        system("CPCRE2", pkgConfig: "libpcre2-8", apt: "libpcre2-dev", brew: "pcre2"),
        system("CJPEG", pkgConfig: "libjpeg", apt: "libjpeg-dev", brew: "jpeg-turbo"),
        system("CPNG", pkgConfig: "libpng", apt: "libpng-dev", brew: "libpng"),
        system("CWebP", pkgConfig: "libwebp", apt: "libwebp-dev", brew: "webp"),
        // giflib has no .pc file.
        .systemLibrary(name: "CGIF", providers: [.apt(["libgif-dev"]), .brew(["giflib"])]),
        // Without pkg-config: their .pc files set macros that the package manager forbids, with a warning each build.
        .systemLibrary(name: "CSimdJSONSystem", providers: [.apt(["libsimdjson-dev"]), .brew(["simdjson"])]),
        // macOS brings its own.
        .systemLibrary(name: "CNCurses", providers: [.apt(["libncurses-dev"])]),
        .systemLibrary(name: "CEdit", providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),
        .systemLibrary(name: "CUTF8Proc", providers: [.apt(["libutf8proc-dev"]), .brew(["utf8proc"])]),
        .target(
            name: "CSimdJSON", dependencies: ["CSimdJSONSystem", "CPlatform"],
            linkerSettings: [.linkedLibrary("simdjson")]),
        .target(
            name: "CPictures", dependencies: ["CJPEG", "CPNG", "CWebP", "CGIF"],
            linkerSettings: [.linkedLibrary("gif")]),
        .target(name: "CPlatform"),
        .target(name: "CKernels"),
        .target(name: "Libc"),

        library("HubCore", ["CCrypto", "CPlatform", "CSimdJSON"]),
        // In the code itself: neither Foundation's Bundle nor a file beside the program is needed.
        library("Catalog", ["HubCore", "CSQLite"], resources: [.embedInCode("Resources/registry.json")]),
        library("ModelFormats", ["HubCore"]),
        library("HubMedia", ["HubCore", "CPictures", "CPlatform"]),
        library("Fetcher", ["HubCore", "Catalog", "ModelFormats", "CCrypto", "CCurl", "CPlatform"]),
        library("HubTokenizers", ["HubCore", "ModelFormats", "CKernels", "CPCRE2", "CUTF8Proc"]),
        library("HubChatTemplates", ["HubCore", "ModelFormats"]),
        library("HubGrammar", ["HubCore"]),
        library(
            "InferenceKit",
            [
                "HubCore", "HubMedia", "ModelFormats", "HubTokenizers", "HubChatTemplates", "HubGrammar",
                "CKernels",
            ]),
        library(
            "RemoteKit",
            ["HubCore", "HubMedia", "HubChatTemplates", "HubGrammar", "Catalog", "Fetcher", "InferenceKit"]),
        library("MemoryKit", ["HubCore", "HubChatTemplates", "Catalog", "InferenceKit"]),
        library(
            "HubServer", ["HubCore", "CMicroHTTPD"],
            resources: [
                "page.css", "theme.js", "page.js", "markdown.js", "highlight.js", "storage.js", "downloads.js",
                "chat.js", "turns.js", "machine.js", "icon.svg", "pictures.js", "overlay.js", "pictures.css",
            ].map { .embedInCode("Page/\($0)") }),
        library("HubMirror", ["HubCore", "Catalog", "Fetcher", "ModelFormats", "HubServer"]),
        library(
            "HubAPI",
            [
                "HubCore", "ModelFormats", "HubMedia", "HubTokenizers", "HubChatTemplates", "HubGrammar",
                "InferenceKit", "Catalog", "Fetcher", "HubServer",
            ]),
        .target(
            name: "HubCLI",
            dependencies: [
                "HubCore", "HubMedia", "Catalog", "Fetcher", "ModelFormats", "HubTokenizers", "HubChatTemplates",
                "HubGrammar", "InferenceKit", "RemoteKit", "MemoryKit", "HubServer", "HubMirror",
                "HubAPI",
                // For `hub version --verbose` and the terminal.
                "CSQLite", "CCurl", "CCrypto", "CMicroHTTPD", "CNCurses", "CEdit", "CPCRE2", "CPlatform",
            ],
            swiftSettings: swiftSettings,
            linkerSettings: [
                .linkedLibrary("ncursesw", .when(platforms: [.linux])),
                .linkedLibrary("ncurses", .when(platforms: [.macOS])),
            ]),
        // main, in C.
        .executableTarget(name: "HubMain", dependencies: ["HubCLI"]),
        // Runs programs and looks at the clock; built with the tests so that it cannot rot.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "HubCore", "Catalog", "Fetcher", "ModelFormats", "HubTokenizers", "HubGrammar", "InferenceKit",
            ],
            path: "Benchmarks",
            exclude: [
                "Data", "catalog_peer.py", "encoder_models.py", "encoders_peer.py", "family_models.py",
                "grammar_peer.py", "inference_models.py", "llama_cpp_peer.py", "page_view.py", "requirements.txt",
                "sentences_peer.py", "synthetic_models.py", "t5_onnx_peer.py", "tokenizer_peer.py",
                "transformers_peer.py", "vectors_peer.py",
            ],
            swiftSettings: swiftSettings),
        // Held to what other packages may call, and run by a test.
        .executableTarget(
            name: "CatalogTour", dependencies: ["HubCore", "Catalog", "Fetcher"], path: "Examples/CatalogTour",
            packageAccess: false, swiftSettings: swiftSettings),
        .executableTarget(
            name: "Chat", dependencies: ["HubCore", "InferenceKit", "RemoteKit"], path: "Examples/Chat",
            packageAccess: false, swiftSettings: swiftSettings),
        .executableTarget(
            name: "PictureSearch", dependencies: ["HubCore", "InferenceKit"], path: "Examples/PictureSearch",
            packageAccess: false, swiftSettings: swiftSettings),

        .target(name: "CSupport", path: "Tests/CSupport"),
        // Also compiled by scripts/portable, for other processors.
        .target(
            name: "KernelChecks", dependencies: ["CKernels"], path: "Tests/Portable", sources: ["kernels.c"],
            cSettings: [.define("HUB_NO_MAIN")]),
        .target(
            name: "Support", dependencies: ["CSupport", "HubCore", "HubServer", "ModelFormats"],
            path: "Tests/Support",
            swiftSettings: swiftSettings),
        // Readers of what others wrote, and the program that scripts/fuzz makes of them.
        .target(
            name: "FuzzDoors",
            dependencies: [
                "Libc", "Support", "HubCore", "Catalog", "ModelFormats", "Fetcher", "HubTokenizers",
                "HubChatTemplates",
                "HubGrammar", "HubMedia", "InferenceKit", "HubServer", "HubAPI",
            ],
            path: "Tests/FuzzDoors", swiftSettings: swiftSettings),
        .executableTarget(name: "Fuzz", dependencies: ["FuzzDoors"], path: "Tests/FuzzMain"),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzDoors", "HubCore", "Support"], swiftSettings: swiftSettings),
        // The tests' inference router for Python's clients.
        .executableTarget(
            name: "RouterStandIn", dependencies: ["Libc", "Support"], path: "Tests/StandIn",
            swiftSettings: swiftSettings),
        // Answers to schemas on standard input, for Python's validator.
        .executableTarget(
            name: "SchemaRuns", dependencies: ["HubCore", "HubGrammar", "InferenceKit"], path: "Tests/SchemaRuns",
            swiftSettings: swiftSettings),
        tests("HubCore", []),
        tests("Catalog", ["HubCore"]),
        tests("Fetcher", ["HubCore", "Catalog", "HubServer"]),
        tests("ModelFormats", ["HubCore"]),
        tests("HubTokenizers", ["HubCore"]),
        tests("HubChatTemplates", ["HubCore"]),
        tests("HubGrammar", ["HubCore"]),
        tests("HubMedia", ["HubCore", "CPictures"]),
        tests(
            "InferenceKit",
            [
                "HubCore", "HubMedia", "ModelFormats", "HubTokenizers", "HubChatTemplates", "HubGrammar",
                "CKernels",
                "KernelChecks",
            ]),
        tests("RemoteKit", ["HubCore", "HubChatTemplates", "HubGrammar", "Catalog", "Fetcher", "InferenceKit"]),
        tests("MemoryKit", ["HubCore", "HubChatTemplates", "Catalog", "InferenceKit"]),
        tests("HubServer", ["HubCore"]),
        tests("HubMirror", ["HubCore", "Fetcher", "HubServer"]),
        tests("HubAPI", ["HubCore", "HubServer"]),
        .testTarget(
            name: "HubCLITests",
            dependencies: [
                "HubCLI", "CatalogTour", "Chat", "PictureSearch", "MemoryKit", "Catalog", "Fetcher", "HubCore",
                "HubMedia",
                "InferenceKit",
                "ModelFormats", "Support",
                "HubServer",
            ],
            swiftSettings: swiftSettings),
    ],
    cxxLanguageStandard: .cxx17
)
