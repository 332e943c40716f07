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
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
    ],
    targets: [
        .systemLibrary(name: "DarkroomCVips", path: "Sources/CVips", pkgConfig: "vips"),
        .target(name: "DarkroomCResampling", dependencies: ["DarkroomCVips"], path: "Sources/CResampling"),
        .target(
            name: "DarkroomVips",
            dependencies: ["DarkroomCResampling", "DarkroomCVips", .product(name: "NIOCore", package: "swift-nio")],
            path: "Sources/Vips", swiftSettings: swiftSettings),
        .target(name: "DarkroomEviction", path: "Sources/Eviction", swiftSettings: swiftSettings),
        .target(name: "DarkroomCMemory", path: "Sources/CMemory"),
        .target(
            name: "DarkroomMachine",
            dependencies: [
                "DarkroomCMemory", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
            ], path: "Sources/Machine", swiftSettings: swiftSettings),
        .target(
            name: "DarkroomNetwork",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], path: "Sources/Network", swiftSettings: swiftSettings),
        .target(
            name: "DarkroomHTTPCaching",
            dependencies: [
                "DarkroomNetwork", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "StructuredFieldValues", package: "swift-http-structured-headers"),
            ], path: "Sources/HTTPCaching", swiftSettings: swiftSettings),
        .target(
            name: "DarkroomRequests", dependencies: ["DarkroomHTTPCaching", "DarkroomMachine", "DarkroomNetwork"],
            path: "Sources/Requests", swiftSettings: swiftSettings),
        .target(
            name: "DarkroomTransforms",
            dependencies: [
                "DarkroomRequests", "DarkroomVips", "DarkroomEviction", "DarkroomMachine",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "Crypto", package: "swift-crypto"),
            ], path: "Sources/Transforms", swiftSettings: swiftSettings),
        .target(name: "Thumbnail", dependencies: ["DarkroomCVips"]),
        .executableTarget(
            name: "floor",
            dependencies: [
                "Thumbnail", "DarkroomVips", "DarkroomRequests", "DarkroomTransforms",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Sources/Floor", swiftSettings: swiftSettings),
        .executableTarget(
            name: "download", dependencies: ["DarkroomMachine", .product(name: "NIOCore", package: "swift-nio")],
            path: "Sources/Download", swiftSettings: swiftSettings),
        .executableTarget(
            name: "widths",
            dependencies: [
                "DarkroomVips", "DarkroomRequests", "DarkroomTransforms",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Sources/Widths", swiftSettings: swiftSettings),
        .executableTarget(
            name: "costs",
            dependencies: [
                "DarkroomVips", "DarkroomRequests", "DarkroomTransforms",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Sources/Costs", swiftSettings: swiftSettings),
        .executableTarget(
            name: "quality",
            dependencies: ["DarkroomRequests", "DarkroomTransforms", .product(name: "NIOCore", package: "swift-nio")],
            path: "Sources/Quality", swiftSettings: swiftSettings),
        .target(
            name: "DarkroomStore",
            dependencies: [
                "DarkroomEviction", "DarkroomMachine",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
            ], path: "Sources/Store", swiftSettings: swiftSettings),
        .executableTarget(
            name: "StoreBench",
            dependencies: [
                "DarkroomStore", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: swiftSettings),
        .executableTarget(
            name: "hit-ratio", dependencies: ["DarkroomEviction"], path: "Sources/HitRatio",
            swiftSettings: swiftSettings),
    ]
)
