// swift-tools-version: 6.2
import PackageDescription

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let distributedTracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nio = Target.Dependency.product(name: "NIO", package: "swift-nio")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioFoundation = Target.Dependency.product(name: "NIOFoundationCompat", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let serviceContext = Target.Dependency.product(name: "ServiceContextModule", package: "swift-service-context")
let structuredFields = Target.Dependency.product(
    name: "StructuredFieldValues", package: "swift-http-structured-headers")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// CI sets this: warnings of our own targets are errors then, those of dependencies are not.
let warnings: [SwiftSetting] =
    Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

let swiftSettings: [SwiftSetting] =
    warnings + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

/// One room of the house: a source target, the rooms below it that it may see, and its packages.
func room(_ name: String, sees rooms: [String] = [], packages: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: rooms.map { .target(name: $0) } + packages, swiftSettings: swiftSettings)
}

/// The tests of one room, which may see that room, the shared test supports and what they name besides.
func tests(of name: String, sees rooms: [String] = [], packages: [Target.Dependency] = []) -> Target {
    let test = name.prefix(1).uppercased() + name.dropFirst() + "Tests"
    return .testTarget(
        name: test, dependencies: ([name] + rooms).map { .target(name: $0) } + packages, swiftSettings: swiftSettings)
}

let package = Package(
    name: "darkroom",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "darkroom", targets: ["darkroom"]),
        .library(name: "Pipeline", targets: ["Pipeline", "Transforms", "Vips", "Store", "Origin", "HTTPCaching"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-service-context", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.16.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.26.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
        room("Vips", sees: ["CVips"], packages: [nioCore]),
        room("Transforms", sees: ["Vips"], packages: [nioCore, crypto]),
        room("HTTPCaching", packages: [httpTypes, structuredFields]),
        room("Store", packages: [grdb, nioCore, crypto, logging]),
        room(
            "Origin", sees: ["HTTPCaching"],
            packages: [asyncHTTPClient, distributedTracing, nio, nioHTTP1, nioSSL, httpTypes, logging, serviceContext]),
        room(
            "Pipeline", sees: ["Transforms", "Store", "Origin", "HTTPCaching"],
            packages: [nioCore, nioPosix, crypto, httpTypes, logging]),
        .target(name: "CSandbox"),
        room("Workers", sees: ["CSandbox", "Transforms"], packages: [nioCore, logging]),
        room("Prometheus", packages: [coreMetrics]),
        .target(
            name: "Web",
            dependencies: [
                "Pipeline", "Transforms", "HTTPCaching", coreMetrics, hummingbird, hummingbirdCore, httpTypes, nioCore,
                crypto, distributedTracing, logging, serviceContext, yams,
            ],
            resources: [.embedInCode("openapi.yaml"), .embedInCode("Playground/playground.html")],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "darkroom",
            dependencies: [
                "Prometheus", "Web", "Workers", "Pipeline", "Transforms", "Store", "Origin", "HTTPCaching",
                argumentParser, configuration, coreMetrics, httpTypes, serviceLifecycle, hummingbird, logging, nioCore,
                nioPosix, distributedTracing, serviceContext,
                systemPackage, unixSignals, yams,
            ],
            swiftSettings: swiftSettings),
        tests(of: "Vips", sees: ["CVips"], packages: [nioCore]),
        tests(of: "Transforms", sees: ["Vips"], packages: [nioCore]),
        tests(of: "HTTPCaching", packages: [httpTypes, structuredFields]),
        tests(of: "Store", packages: [grdb, nioCore, crypto, logging]),
        tests(
            of: "Origin", sees: ["TestOrigin"],
            packages: [nio, nioHTTP1, nioSSL, httpTypes, logging, distributedTracing, serviceContext]),
        tests(
            of: "Pipeline", sees: ["Vips", "Transforms", "Store", "Origin", "HTTPCaching"],
            packages: [nioCore, httpTypes]),
        tests(of: "Workers", sees: ["CSandbox", "Transforms"], packages: [nioCore, logging]),
        tests(of: "Prometheus", packages: [coreMetrics]),
        // What README shows and links to: the library's public face as its users see it, run by tests of its own.
        .target(
            name: "Examples", dependencies: ["Pipeline", "Transforms", "Vips", "Store", "Origin", nioCore, crypto],
            path: "Examples", exclude: ["signing"],
            packageAccess: false,
            swiftSettings: swiftSettings),
        tests(
            of: "Examples", sees: ["TestOrigin", "Pipeline", "Transforms", "Vips", "Store", "Origin"],
            packages: [nioCore, nioPosix]),
        tests(
            of: "Web", sees: ["Pipeline", "Transforms", "Origin", "HTTPCaching"],
            packages: [
                coreMetrics, crypto, distributedTracing, hummingbird, hummingbirdCore, httpTypes, logging, nioCore,
                nioPosix, serviceContext, serviceLifecycle, yams,
            ]),
        .testTarget(
            name: "DarkroomTests",
            dependencies: [
                "darkroom", "TestOrigin", "Workers", "Web", "Transforms", "HTTPCaching", "Origin", "Pipeline", "Store",
                logging, nioCore, nioPosix,
                nioHTTP1, nioFoundation, asyncHTTPClient,
            ],
            swiftSettings: swiftSettings),
        // What reads strangers' bytes, fed with damaged ones; `make fuzz` gives it more time.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "Web", "Pipeline", "Transforms", "Store", "Origin", "HTTPCaching", httpTypes, nioCore, nioHTTP1,
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "TestOrigin", dependencies: [nioCore, nioPosix, nioSSL], path: "Tests/TestOrigin",
            swiftSettings: swiftSettings),
    ]
)
