import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Whatever files are stripped, they show what they showed before.
struct StrippingTests {
    private static let fixtures: [URL] = files(below: Fixture.root.appendingPathComponent("images"))
    private static let corpus: [URL] = Fixture.corpus.map(files) ?? []

    @Test func `Fixtures show the same after stripping`() throws {
        #expect(try stripped(Self.fixtures).count > 60)
    }

    @Test(.enabled(if: Fixture.corpus != nil))
    func `Images of other projects show the same after stripping`() throws {
        #expect(try stripped(Self.corpus).count > 300)
    }

    /// The files that could be stripped.
    private func stripped(_ files: [URL]) throws -> [URL] {
        try files.filter { file in
            let source = try Fixture.bytes(file)
            guard let header = try? SourceHeader(of: source), header.size.area * header.frames <= 4_000_000,
                let strip = OutputFormat.allCases.first(where: { $0.mediaType == header.format.mediaType })?.row
                    .stripped,
                let decoded = try? decoded(source, header), let stripped = strip(source)
            else { return false }
            let after = try SourceHeader(of: stripped)
            let again = try self.decoded(stripped, after)
            #expect((after.size, after.frames) == (header.size, header.frames), "\(file.path)")
            #expect(try decoded.image.samples() == again.image.samples(), "\(file.path)")
            #expect(stripped.readableBytes <= source.readableBytes && strip(stripped) == stripped, "\(file.path)")
            let fields = again.image.fields.filter {
                ["exif", "xmp", "iptc", "icc", "png-comment", "gif-comment"].contains(where: $0.hasPrefix)
            }
            #expect(fields.isEmpty, "\(file.path)")
            return true
        }
    }

    private func decoded(
        _ source: ByteBuffer, _ header: SourceHeader
    ) throws(ImageProcessingError) -> DecodedPixels {
        try Decoder(source: source, header: header) { false }.decode(DecodeParameters(frames: header.frames))
    }

    private static func files(below folder: URL) -> [URL] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        return (all?.allObjects ?? []).compactMap { $0 as? URL }.filter {
            (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
        }.sorted { $0.path < $1.path }
    }
}
