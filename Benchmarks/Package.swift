// swift-tools-version: 6.2
import PackageDescription

// The pixel rooms and the store alone, so that what is under the whole service can be measured without the service.
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let structuredFields = Target.Dependency.product(
    name: "StructuredFieldValues", package: "swift-http-structured-headers")

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A room of the package above, with what it sees there.
func room(_ name: String, sees rooms: [String] = [], packages: [Target.Dependency] = []) -> Target {
    .target(
        name: "Darkroom\(name)", dependencies: rooms.map { .target(name: "Darkroom\($0)") } + packages,
        path: "Sources/\(name)", swiftSettings: swiftSettings)
}

func benchmark(
    _ name: String, in folder: String, sees rooms: [String] = [], packages: [Target.Dependency] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: rooms.map { .target(name: "Darkroom\($0)") } + packages, path: "Sources/\(folder)",
        swiftSettings: swiftSettings)
}

let package = Package(
    name: "darkroom",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.26.0"),
    ],
    targets: [
        .systemLibrary(name: "DarkroomCVips", path: "Sources/CVips", pkgConfig: "vips"),
        .target(name: "DarkroomCResampling", dependencies: ["DarkroomCVips"], path: "Sources/CResampling"),
        .target(name: "DarkroomCFaces", path: "Sources/CFaces"),
        .target(name: "DarkroomCMemory", path: "Sources/CMemory"),
        room("Vips", sees: ["CResampling", "CVips"], packages: [nioCore]),
        room("Eviction"),
        room("Waiting"),
        room("Machine", sees: ["CMemory"], packages: [crypto, logging, nioCore]),
        room("Network", packages: [httpTypes, nioCore]),
        room("HTTPCaching", sees: ["Network"], packages: [httpTypes, structuredFields]),
        room("HTTPClient", sees: ["Network"], packages: [asyncHTTPClient, httpTypes, nioCore, nioHTTP1, nioSSL]),
        room("Requests", sees: ["HTTPCaching", "Machine", "Network"]),
        room("Transforms", sees: ["CFaces", "Requests", "Vips", "Eviction", "Machine"], packages: [nioCore, crypto]),
        room(
            "ObjectStorage", sees: ["Network", "HTTPCaching", "HTTPClient", "Waiting"],
            packages: [asyncHTTPClient, crypto, httpTypes, logging, nioCore, nioHTTP1, nioPosix, nioSSL]),
        room(
            "Store", sees: ["Eviction", "Machine", "Network", "ObjectStorage"],
            packages: [grdb, grdbSQLite, nioCore, crypto, logging]),
        .target(name: "Thumbnail", dependencies: ["DarkroomCVips"]),
        benchmark("bare", in: "Bare", packages: [nioCore, nioHTTP1, nioPosix]),
        benchmark("floor", in: "Floor", sees: ["Vips", "Requests", "Transforms"], packages: ["Thumbnail", nioCore]),
        benchmark("download", in: "Download", sees: ["Machine"], packages: [nioCore]),
        benchmark("widths", in: "Widths", sees: ["Vips", "Requests", "Transforms"], packages: [nioCore]),
        benchmark("costs", in: "Costs", sees: ["Vips", "Requests", "Transforms"], packages: [nioCore]),
        benchmark("quality", in: "Quality", sees: ["Requests", "Transforms"], packages: [nioCore]),
        benchmark("StoreBench", in: "StoreBench", sees: ["Store"], packages: [crypto, logging, nioCore]),
        benchmark("hit-ratio", in: "HitRatio", sees: ["Eviction"]),
    ]
)
