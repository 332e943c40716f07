// swift-tools-version: 6.2
import PackageDescription

// The pixel rooms alone, so that the floor under the whole service can be measured without the service.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "darkroom",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
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
    ]
)
