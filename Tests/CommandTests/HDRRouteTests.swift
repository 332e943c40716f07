import DarkroomRequests
import Foundation
import NIOCore
import Testing

/// `hdr` and `gamut`, through the built executable with its workers.
@Suite(.timeLimit(.minutes(5)))
struct HDRRouteTests {
    @Test func `A gain map is kept where that is asked for, and the plan says why it is not`() async throws {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path])
        let source = "local:///hdr/ultra-hdr.jpg"
        for (query, hasMap, outcome) in [
            ("output=jpg&hdr=keep", true, "kept"), ("output=jpg&hdr=drop", false, "dropped-by-hdr"),
            ("output=webp", false, "dropped-by-format"), ("output=jpg&hdr=keep&blur=2", false, "dropped-by-steps"),
        ] {
            let image = try await server.image(source, "w=200&\(query)")
            #expect(image.status == 200 && image.body.readableBytesView.contains("MPF\0") == hasMap, "\(query)")
            let explained = String(
                buffer: try await Client.get("\(server.base)/explain?url=\(source)&w=200&\(query)").body)
            #expect(explained.contains("\"gain_map\":\"\(outcome)\""), "\(query)")
        }
        #expect(try await server.image(source, "hdr=always").status == 400)
        #expect(await server.stop() == 0)
    }

    @Test func `The setting is the default of the color space, which a query may change`() async throws {
        let profile = "Display P3".utf16.flatMap { [UInt8(0), UInt8($0)] }
        for (flags, isWide) in [([], false), (["--gamut", "source"], true)] {
            let server = try await DarkroomProcess(["--local-root", URL.fixtures.path] + flags)
            for (query, isP3) in [("", isWide), ("&gamut=source", true), ("&gamut=srgb", false)] {
                let image = try await server.image("local:///color/display-p3.jpg", "w=90&output=jpg\(query)")
                #expect(image.status == 200 && image.body.readableBytesView.contains(profile) == isP3, "\(query)")
            }
            #expect(await server.stop() == 0)
        }
    }
}

extension ByteBufferView {
    fileprivate func contains(_ text: String) -> Bool { contains(Array(text.utf8)) }
    fileprivate func contains(_ bytes: [UInt8]) -> Bool { firstRange(of: bytes) != nil }
}
