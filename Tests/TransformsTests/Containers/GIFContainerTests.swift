import NIOCore
import Testing

@testable import DarkroomTransforms

struct GIFContainerTests {
    /// A screen of 4×4 with two colors.
    private static let screen: [UInt8] = Array("GIF89a".utf8) + [4, 0, 4, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    private static let loops: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 5, 0, 0]
    private static let control: [UInt8] = [0x21, 0xF9, 4, 4, 10, 0, 0, 0]
    private static let comment: [UInt8] = [0x21, 0xFE, 7] + Array("Private".utf8) + [0]
    private static let packet: [UInt8] =
        [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + [7] + Array("Private".utf8) + [0]
    private static let trailer: [UInt8] = [0x3B]

    /// - Parameter colors: of the frame itself.
    private static func frame(left: UInt8 = 0, side: UInt8 = 4, colors: [UInt8] = []) -> [UInt8] {
        [0x2C, left, 0, 0, 0, side, 0, side, 0, colors.isEmpty ? 0 : 0x80] + colors + [2, 2, 0x44, 1, 0]
    }

    private func stripped(_ parts: [[UInt8]]) -> [UInt8]? {
        GIFContainer.stripped(ByteBuffer(bytes: parts.flatMap { $0 })).map { Array($0.readableBytesView) }
    }

    @Test func `Comments, data of applications and what follows the trailer are left out`() {
        let frame = Self.frame(colors: [1, 2, 3, 4, 5, 6])
        let bare = [Self.screen, Self.loops, Self.control, frame, Self.control, Self.frame(side: 2), Self.trailer]
        let full = [
            Self.screen, Self.comment, Self.packet, Self.loops, Self.control, Self.comment, frame, Self.packet,
            Self.control, Self.packet, Self.frame(side: 2), Self.comment, Self.trailer, Array("Private".utf8),
        ]
        #expect(stripped(full) == bare.flatMap { $0 })
        #expect(stripped(bare) == bare.flatMap { $0 })
    }

    @Test(arguments: ["animation/disposal.gif", "animation/opaque.gif", "animation/still.gif"])
    func `Fixtures show the same without their comments`(_ name: String) throws {
        let source = try Fixture.image(name)
        let stripped = try #require(GIFContainer.stripped(source))
        let (all, left) = (try produce(source), try produce(stripped))
        #expect(try Pixels(all.body).samples == Pixels(left.body).samples)
        #expect(try SourceHeader(of: stripped) == SourceHeader(of: source))
    }

    @Test func `Files in an unexpected form are refused`() {
        let (screen, frame, control, trailer) = (Self.screen, Self.frame(), Self.control, Self.trailer)
        #expect(stripped([screen, frame, trailer]) != nil)
        for parts in [
            [], [screen], [screen, trailer], [screen, frame], [screen, control, trailer], [frame, trailer],
            [screen, control, control, frame, trailer], [screen, frame, control, trailer],
            [screen, Self.loops, Self.loops, frame, trailer], [screen, Self.frame(left: 1), trailer],
            [screen, Self.frame(side: 5), trailer], [screen, [0x21, 0x01, 0], frame, trailer],
            [screen, [0x21, 0x77, 0], frame, trailer], [screen, [0x00], frame, trailer],
            [screen, [0x21, 0xF9, 5, 4, 10, 0, 0, 0, 0], frame, trailer],
            [screen, [0x21, 0xFF, 3, 0], frame, trailer],
            [screen, Array(Self.loops.dropLast(5)) + [3, 2, 5, 0, 0], frame, trailer],
        ] { #expect(stripped(parts) == nil, "\(parts)") }
        let whole = [screen, Self.comment, Self.loops, control, frame, trailer].flatMap { $0 }
        for length in whole.indices { #expect(stripped([Array(whole.prefix(length))]) == nil) }
    }
}
