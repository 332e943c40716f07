// swift-tools-version: 6.2
import PackageDescription

// The pixel rooms and the store alone, so that what is under the whole service can be measured without the service.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "darkroom",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
    ],
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "vips"),
        .target(
            name: "Vips", dependencies: ["CVips", .product(name: "NIOCore", package: "swift-nio")],
            swiftSettings: swiftSettings),
        .target(
            name: "Transforms",
            dependencies: [
                "Vips", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: swiftSettings),
        .target(name: "Thumbnail", dependencies: ["CVips"]),
        .executableTarget(
            name: "floor",
            dependencies: ["Thumbnail", "Vips", "Transforms", .product(name: "NIOCore", package: "swift-nio")],
            path: "Sources/Floor", swiftSettings: swiftSettings),
        .executableTarget(
            name: "widths", dependencies: ["Vips", "Transforms", .product(name: "NIOCore", package: "swift-nio")],
            path: "Sources/Widths", swiftSettings: swiftSettings),
        .target(
            name: "Store",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: swiftSettings),
        .executableTarget(
            name: "StoreBench",
            dependencies: [
                "Store", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: swiftSettings),
        .executableTarget(
            name: "hit-ratio", dependencies: ["Store"], path: "Sources/HitRatio", swiftSettings: swiftSettings),
    ]
)
