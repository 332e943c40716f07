import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomStore
import DarkroomTestOrigin
import DarkroomVips
import NIOCore
import NIOPosix

/// Runs a loopback origin with one image of 800 by 600 pixels, which it sends in two pieces.
///
/// - Parameter pause: held between the two pieces.
func withImage(
    pause: EventLoopFuture<Void>? = nil, _ body: (TestOrigin) async throws -> Void
) async throws {
    let image = try drawing()
    let half = image.readableBytes / 2
    var beginning = ByteBuffer(
        string: "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(image.readableBytes)\r\n\r\n")
    beginning.writeImmutableBuffer(image.getSlice(at: 0, length: half) ?? image)
    let rest = image.getSlice(at: half, length: image.readableBytes - half) ?? ByteBuffer()
    let steps = [.sendBytes(beginning)] + (pause.map { [TestOrigin.Step.wait($0)] } ?? []) + [.sendBytes(rest)]
    let origin = TestOrigin { _ in steps }
    try await origin.start()
    let result: Result<Void, any Error>
    do { result = .success(try await body(origin)) } catch { result = .failure(error) }
    try await origin.stop()
    try result.get()
}

/// A JPEG of four quarters and a fine pattern, about 100 KiB.
func drawing() throws -> ByteBuffer {
    var samples: [UInt8] = []
    for y in 0..<600 {
        for x in 0..<800 {
            let noise = UInt8(truncatingIfNeeded: (x &* 7919) ^ (y &* 104_729) ^ (x &* y)) / 8
            samples += [(x < 400 ? 200 : 40) + noise, (y < 300 ? 180 : 60) + noise, 90 + noise]
        }
    }
    let image = try VipsImage.fromBytes(samples, width: 800, height: 600, bands: 3)
        .applying("copy", ["interpretation": "srgb"])
    return try VipsSaver.jpeg.encode(image, ["Q": 90])
}

extension GuardedHTTPClient.Settings {
    /// Loopback is allowed, so that the test's origin can be contacted.
    static var loopback: Self {
        get throws {
            var settings = Self()
            settings.addresses = AddressPolicy(allowNetworks: [try CIDR(parsing: "127.0.0.0/8")])
            return settings
        }
    }
}

/// Resolves every name to this machine.
struct LoopbackNameLookup: NameLookup {
    func addresses(of name: String, for client: String) async throws(OriginError) -> [IPAddress] {
        [IPAddress("127.0.0.1")].compactMap(\.self)
    }
}

extension ImageResponse {
    /// The decoded image.
    var pixels: VipsImage {
        get throws { try data.pixels }
    }
}

extension Sequence<UInt8> {
    /// The image that these bytes encode.
    var pixels: VipsImage {
        get throws {
            try VipsLoader.jpeg.withImage(of: ByteBuffer(bytes: self)) { lazy throws(VipsError) in
                try lazy.rendered()
            }
        }
    }
}
