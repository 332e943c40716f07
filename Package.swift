// swift-tools-version: 6.2
import PackageDescription

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let distributedTracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let inMemoryTracing = Target.Dependency.product(name: "InMemoryTracing", package: "swift-distributed-tracing")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioExtras = Target.Dependency.product(name: "NIOExtras", package: "swift-nio-extras")
let nioFoundation = Target.Dependency.product(name: "NIOFoundationCompat", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let serviceContext = Target.Dependency.product(name: "ServiceContextModule", package: "swift-service-context")
let structuredFields = Target.Dependency.product(
    name: "StructuredFieldValues", package: "swift-http-structured-headers")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// CI sets this: warnings of our own targets are errors then, those of dependencies are not.
let warnings: [SwiftSetting] =
    Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

// The Makefile sets this: in a debug build without optimization, a search for faces takes a hundred times as long.
// Packages that depend on this one would be refused with such a flag.
let detectorSettings: [CXXSetting] =
    Context.environment["OPTIMIZED_DETECTOR"] == "1" ? [.unsafeFlags(["-O2"], .when(configuration: .debug))] : []

let swiftSettings: [SwiftSetting] =
    warnings + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

/// One room of the house: a source target, the rooms below it that it may see, and the packages it uses.
///
/// These rows are the only place where the arrows between modules are written down. `make lint` and CI build with
/// `--explicit-target-dependency-import-check error`, so an import without its arrow does not compile.
func room(
    _ name: String, sees rooms: [String] = [], packages: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
    .target(
        name: module(name), dependencies: rooms.map { .target(name: module($0)) } + packages,
        path: "Sources/\(name)", resources: resources, swiftSettings: swiftSettings)
}

/// The tests of one room, which may also see the rooms and packages named here.
func tests(of name: String, sees rooms: [String] = [], packages: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: ([name] + rooms).map { .target(name: module($0)) } + packages,
        swiftSettings: swiftSettings)
}

/// An example of one layer of the library, which sees nothing of the other layers.
func layerExample(_ name: String, sees rooms: [String], packages: [Target.Dependency] = []) -> Target {
    .target(
        name: module("\(name)Example"), dependencies: rooms.map { .target(name: module($0)) } + packages,
        path: "Examples/Layers/\(name)", packageAccess: false, swiftSettings: swiftSettings)
}

/// A module's name: unique in any package graph, although folders and prose use the short one.
func module(_ room: String) -> String { room == "Darkroom" ? room : "Darkroom\(room)" }

let package = Package(
    name: "darkroom",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "darkroom", targets: ["DarkroomCommand"]),
        .library(name: "Darkroom", targets: ["Darkroom"]),
        // The layers of the library, each usable alone: a product has the modules that its users import.
        .library(name: "DarkroomURLs", targets: ["DarkroomQuery", "DarkroomRequests", "DarkroomNetwork"]),
        .library(name: "DarkroomTransforms", targets: ["DarkroomTransforms", "DarkroomRequests", "DarkroomVips"]),
        .library(name: "DarkroomStore", targets: ["DarkroomStore"]),
        .library(name: "DarkroomOrigin", targets: ["DarkroomOrigin", "DarkroomNetwork"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-service-context", from: "1.2.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.16.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.26.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "DarkroomCVips", path: "Sources/CVips", pkgConfig: "vips",
            providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
        .target(name: "DarkroomCResampling", dependencies: ["DarkroomCVips"], path: "Sources/CResampling"),
        room("Vips", sees: ["CResampling", "CVips"], packages: [nioCore]),
        .systemLibrary(
            name: "DarkroomCCompression", path: "Sources/CCompression",
            providers: [
                .apt(["zlib1g-dev", "libbrotli-dev", "libzstd-dev"]), .brew(["brotli", "zstd"]),
            ]),
        .systemLibrary(
            name: "DarkroomCPublicSuffix", path: "Sources/CPublicSuffix",
            providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),
        room("Eviction"),
        room("Waiting"),
        .target(name: "DarkroomCMemory", path: "Sources/CMemory"),
        room("Machine", sees: ["CMemory"], packages: [crypto, logging, nioCore]),
        room("Network", packages: [httpTypes, nioCore]),
        room("HTTPClient", sees: ["Network"], packages: [asyncHTTPClient, httpTypes, nioCore, nioHTTP1, nioSSL]),
        room("Tracing", sees: ["Network"], packages: [distributedTracing]),
        room("HTTPCaching", sees: ["Network"], packages: [httpTypes, structuredFields]),
        // What is asked, as values. These rooms, Query and Dialects link neither libvips nor SQLite nor an HTTP client.
        room("Requests", sees: ["HTTPCaching", "Machine", "Network"]),
        room("Query", sees: ["Requests", "HTTPCaching", "Network"], packages: [crypto]),
        room("Dialects", sees: ["Query", "Requests", "Network"], packages: [crypto]),
        // Without dlib's headers (libdlib-dev) it compiles to functions that find nothing.
        .target(name: "DarkroomCFaces", path: "Sources/CFaces", cxxSettings: detectorSettings),
        room("Transforms", sees: ["CFaces", "Requests", "Vips", "Eviction", "Machine"], packages: [nioCore, crypto]),
        room(
            "ObjectStorage", sees: ["Network", "HTTPCaching", "HTTPClient", "Waiting"],
            packages: [asyncHTTPClient, crypto, httpTypes, logging, nioCore, nioHTTP1, nioPosix, nioSSL]),
        room(
            "Store", sees: ["Eviction", "Machine", "Network", "ObjectStorage"],
            packages: [grdb, grdbSQLite, nioCore, crypto, logging]),
        room(
            "Origin",
            sees: [
                "CCompression", "CPublicSuffix", "Network", "HTTPCaching", "HTTPClient", "Machine", "ObjectStorage",
                "Waiting",
            ],
            packages: [
                asyncHTTPClient, crypto, distributedTracing, nioCore, nioHTTP1, nioPosix, nioSSL, httpTypes, logging,
                serviceContext,
            ]),
        room(
            "Cache",
            sees: [
                "Requests", "Store", "Transforms", "ObjectStorage", "Network", "HTTPCaching", "Eviction", "Machine",
                "Waiting",
            ],
            packages: [nioCore, nioFoundation, httpTypes, logging]),
        room(
            "Pipeline",
            sees: [
                "Requests", "Cache", "Transforms", "Store", "Origin", "Network", "HTTPCaching", "Machine", "Waiting",
            ],
            packages: [nioCore, nioPosix, distributedTracing, httpTypes, logging]),
        room("Loading", sees: ["Requests", "Pipeline", "Network", "Waiting"], packages: [nioCore]),
        // What `import Darkroom` gives library users.
        room(
            "Darkroom",
            sees: [
                "Query", "Requests", "Loading", "Pipeline", "Cache", "Transforms", "Vips", "Store", "Machine", "Origin",
                "Network", "HTTPCaching",
            ]),
        .target(name: "DarkroomCSandbox", path: "Sources/CSandbox"),
        room("Workers", sees: ["CSandbox", "Requests", "Transforms", "Machine"], packages: [nioCore, logging]),
        room(
            "OpenTelemetry", sees: ["Tracing", "HTTPCaching", "HTTPClient", "Waiting"],
            packages: [asyncHTTPClient, distributedTracing, httpTypes, logging, nioCore, nioHTTP1]),
        room(
            "EdgePurging", sees: ["HTTPCaching", "HTTPClient", "Waiting"],
            packages: [asyncHTTPClient, crypto, httpTypes, logging, nioCore, nioHTTP1]),
        room(
            "HTTPServer", sees: ["Network", "HTTPCaching", "Tracing"],
            packages: [
                coreMetrics, crypto, distributedTracing, hummingbird, hummingbirdCore, httpTypes, logging, nioCore,
                nioExtras, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1, nioPosix, serviceContext, serviceLifecycle,
            ]),
        room(
            "Web",
            sees: [
                "Dialects", "Query", "Requests", "HTTPServer", "Loading", "Pipeline", "Cache", "Transforms", "Store",
                "Origin", "Network", "HTTPCaching", "Eviction",
            ],
            packages: [coreMetrics, crypto, distributedTracing, hummingbird, httpTypes, logging, nioCore, yams],
            resources: [
                .embedInCode("openapi.yaml"), .embedInCode("Pages/Playground"), .embedInCode("Pages/Samples"),
            ]),
        .executableTarget(
            name: "DarkroomCommand",
            dependencies: [
                "DarkroomEdgePurging", "DarkroomOpenTelemetry", "DarkroomTracing", "DarkroomWeb",
                "DarkroomHTTPServer", "DarkroomDialects",
                "DarkroomQuery", "DarkroomRequests", "DarkroomWorkers", "DarkroomLoading", "DarkroomPipeline",
                "DarkroomCache",
                "DarkroomTransforms", "DarkroomStore", "DarkroomMachine", "DarkroomObjectStorage", "DarkroomOrigin",
                "DarkroomNetwork", "DarkroomHTTPCaching", "DarkroomHTTPClient",
                argumentParser, asyncHTTPClient, coreMetrics, httpTypes,
                serviceLifecycle, hummingbird, logging, nioCore, nioHTTP1, nioPosix, distributedTracing, unixSignals,
                yams,
            ],
            path: "Sources/Command", swiftSettings: swiftSettings),
        tests(of: "Vips", sees: ["CVips"], packages: [nioCore]),
        tests(of: "Requests"),
        tests(of: "Transforms", sees: ["Requests", "TestRandom", "Vips"], packages: [nioCore]),
        tests(of: "Network"),
        tests(of: "HTTPClient", packages: [asyncHTTPClient, nioCore, nioEmbedded, nioHTTP1, nioSSL]),
        tests(of: "HTTPCaching", packages: [httpTypes, structuredFields]),
        tests(of: "Eviction", sees: ["TestRandom"]),
        tests(of: "Waiting", sees: ["TestClock"]),
        tests(of: "Machine", sees: ["CMemory", "TestClock", "TestLogs"], packages: [crypto, logging, nioCore]),
        tests(
            of: "Store", sees: ["Machine", "TestClock", "TestLogs", "TestRandom"],
            packages: [grdb, nioCore, crypto, logging]),
        tests(
            of: "ObjectStorage", sees: ["TestClock", "TestLogs", "TestOrigin", "TestRandom"],
            packages: [httpTypes, logging, nioCore, nioPosix, nioSSL]),
        tests(
            of: "Origin",
            sees: [
                "Machine", "Network", "ObjectStorage", "TestClock", "TestLogs", "TestOrigin", "TestRandom",
            ],
            packages: [
                crypto, nioCore, nioHTTP1, nioPosix, httpTypes, logging, distributedTracing, serviceContext,
            ]),
        tests(
            of: "Cache", sees: ["HTTPCaching", "Network", "Requests", "Store", "Transforms"],
            packages: [httpTypes, nioCore]),
        tests(
            of: "Pipeline",
            sees: [
                "Requests", "Cache", "Loading", "Vips", "Transforms", "Store", "ObjectStorage", "Origin", "Network",
                "HTTPCaching", "Machine", "TestClock", "TestLogs", "Waiting",
            ],
            packages: [nioCore, distributedTracing, httpTypes, inMemoryTracing, logging]),
        tests(
            of: "Workers", sees: ["CMemory", "CSandbox", "Machine", "Requests", "Transforms"],
            packages: [nioCore, logging]),
        tests(of: "Tracing", packages: [distributedTracing]),
        tests(
            of: "OpenTelemetry", sees: ["TestClock", "TestLogs", "TestOrigin", "Tracing"],
            packages: [distributedTracing, logging, nioCore, nioFoundation, nioHTTP1, nioPosix]),
        tests(
            of: "EdgePurging", sees: ["HTTPCaching", "TestClock", "TestLogs", "TestOrigin"],
            packages: [crypto, httpTypes, logging, nioCore, nioFoundation, nioHTTP1, nioPosix]),
        // The code that documents show: the library as its users see it, compiled like theirs and run by tests.
        .target(
            name: "DarkroomExamples", dependencies: ["Darkroom", nioCore, crypto, httpTypes, hummingbird],
            path: "Examples", exclude: ["Layers"], packageAccess: false, swiftSettings: swiftSettings),
        layerExample("URLs", sees: ["Query", "Requests", "Network"]),
        layerExample("Transforms", sees: ["Transforms", "Requests"], packages: [nioCore]),
        layerExample("Store", sees: ["Store"], packages: [nioCore]),
        layerExample("Origin", sees: ["Origin", "Network"], packages: [nioCore, nioPosix]),
        tests(
            of: "Examples",
            sees: [
                "URLsExample", "TransformsExample", "StoreExample", "OriginExample", "TestOrigin", "Darkroom",
            ],
            packages: [httpTypes, hummingbird, logging, nioCore, nioEmbedded, nioPosix]),
        tests(
            of: "Query", sees: ["Requests", "Pipeline", "Transforms", "HTTPCaching", "Network", "TestRandom"],
            packages: [nioCore]),
        tests(
            of: "Dialects", sees: ["Query", "Requests", "Transforms", "Network", "TestRandom"],
            packages: [crypto, nioCore]),
        tests(
            of: "HTTPServer", sees: ["Network", "TestClock", "TestLogs", "Tracing"],
            packages: [
                coreMetrics, distributedTracing, hummingbird, hummingbirdCore, httpTypes, inMemoryTracing,
                logging, nioCore, nioEmbedded, nioHTTP1, nioPosix, serviceContext, serviceLifecycle,
            ]),
        tests(
            of: "Web",
            sees: [
                "Dialects", "Query", "Requests", "HTTPServer", "Loading", "Pipeline", "Cache", "Transforms", "Store",
                "Origin", "Network", "HTTPCaching", "TestClock", "TestRandom", "Tracing", "Waiting",
            ],
            packages: [
                coreMetrics, crypto, hummingbird, hummingbirdCore, httpTypes, logging, nioCore,
                nioHTTP1, nioPosix, serviceLifecycle, yams,
            ]),
        tests(
            of: "Command",
            sees: [
                "EdgePurging", "TestClock", "TestOrigin", "Machine", "Workers", "Web", "HTTPServer", "Dialects",
                "Query", "Requests", "Transforms", "HTTPCaching", "Origin", "Network", "ObjectStorage", "Pipeline",
                "Store",
            ],
            packages: [
                argumentParser, coreMetrics, httpTypes, logging, nioCore, nioPosix, nioHTTP1, nioFoundation,
                asyncHTTPClient,
            ]),
        // Parsers of untrusted bytes, fed with mutated input; `make fuzz` gives it more time.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "DarkroomCommand", "DarkroomWeb", "DarkroomHTTPServer", "DarkroomDialects", "DarkroomQuery",
                "DarkroomRequests", "DarkroomWorkers", "DarkroomPipeline", "DarkroomCache", "DarkroomTracing",
                "DarkroomTransforms", "DarkroomStore", "DarkroomOrigin", "DarkroomNetwork", "DarkroomHTTPCaching",
                "DarkroomHTTPClient", "DarkroomObjectStorage", "DarkroomTestRandom", logging, httpTypes,
                nioCore, nioHTTP1,
            ],
            swiftSettings: swiftSettings),
        .target(name: "DarkroomTestClock", path: "Tests/TestClock", swiftSettings: swiftSettings),
        .target(
            name: "DarkroomTestLogs", dependencies: [logging], path: "Tests/TestLogs", swiftSettings: swiftSettings),
        .target(name: "DarkroomTestRandom", path: "Tests/TestRandom", swiftSettings: swiftSettings),
        .target(
            name: "DarkroomTestOrigin", dependencies: [nioCore, nioHTTP1, nioPosix, nioSSL], path: "Tests/TestOrigin",
            swiftSettings: swiftSettings),
    ]
)

// `make test MODULE=Store` builds and runs the tests of one room alone.
if let room = Context.environment["DARKROOM_TESTS"] {
    package.targets.removeAll { $0.type == .test && $0.name != "\(room)Tests" }
}
