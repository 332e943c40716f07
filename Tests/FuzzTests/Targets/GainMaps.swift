import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    private static let names = [
        "MPF\0", "II*\0", "MM\0*", "\u{FF}\u{E1}", "\u{FF}\u{E2}", "\u{FF}\u{D8}\u{FF}", "hdrgm:GainMapMax=\"",
        "hdrgm:Gamma", "HDRGainMap:HDRGainMapHeadroom", "Apple iOS\0", "<rdf:li>", "</rdf:Seq>",
        "urn:iso:std:iso:ts:21496:-1\0", "1e999", "-nan", "&amp;", "\0\0\0\0",
        "\u{FF}\u{FF}\u{FF}\u{FF}",
    ]

    @Test func `A damaged index of images lists parts of its file only, and a new index lists the new image`() {
        let seeds = Pictures.whole(named: ["jpg"]).filter { $0.count <= Mutator.maxBytes }
        fuzzer.run("indices", bytes: seeds, words: Self.names) { input in
            let file = ByteBuffer(bytes: input)
            let images = MultiPictureIndex.furtherImages(in: file)
            try hold(
                images.count <= 8 && images.allSatisfy { $0.readableBytes < input.count }, "\(images.count) images")
            guard let first = JPEGContainer.stripped(file) else { return }
            guard let whole = MultiPictureIndex.joining(first, first) else { throw Unheld(reason: "no index") }
            try hold(MultiPictureIndex.furtherImages(in: whole) == [first], "another image")
            try hold(JPEGContainer.stripped(whole) == first, "another first image")
        }
    }

    @Test func `Damaged metadata of a gain map is numbers in range, which are written and read as they are`() {
        let seeds = MultiPictureSeeds.maps
        fuzzer.run("gain maps", bytes: seeds, words: Self.names) { input in
            let file = ByteBuffer(bytes: input)
            var fields = file
            let apple = AppleGainMap(of: file, in: file)
            try hold(apple.map { $0.table.last == 255 && $0.table == $0.table.sorted() } ?? true, "a table")
            let all = [
                GainMapMetadata(of: file), GainMapMetadata(xmp: input), GainMapMetadata(iso: &fields), apple?.metadata,
            ]
            for metadata in all.compactMap(\.self) {
                let lists = [
                    metadata.least, metadata.most, metadata.gamma, metadata.baseOffset, metadata.alternateOffset,
                ]
                try hold(lists.joined().allSatisfy { abs($0) <= 64 }, "\(lists)")
                try hold(GainMapMetadata(xmp: metadata.packet.readableBytesView) == metadata, "another packet")
                var fractions = metadata.isoFields
                let again = GainMapMetadata(iso: &fractions)
                let isSame = lists.map(\.count) == lists.map { _ in lists[0].count }
                try hold(isSame ? again == metadata : again != nil, "other fractions")
            }
        }
    }
}

private enum MultiPictureSeeds {
    private static let exif = Array("Exif\0\0".utf8)

    /// The gain maps of the fixtures, also with the EXIF of their images, and their metadata.
    static var maps: [[UInt8]] {
        let files = Pictures.whole(named: ["jpg"]).map { ByteBuffer(bytes: $0) }
        let apple = files.compactMap { file in
            JPEGContainer.segment(JPEGContainer.Marker.exif, exif, of: file).flatMap { content in
                MultiPictureIndex.furtherImages(in: file).first.flatMap {
                    JPEGContainer.adding(JPEGContainer.Marker.exif, exif, content, to: $0)
                }
            }
        }
        let maps = files.flatMap { MultiPictureIndex.furtherImages(in: $0) }
        let isoFields = maps.compactMap { GainMapMetadata(of: $0)?.isoFields }
        return (maps + apple + isoFields).map { Array($0.readableBytesView) }
            + maps.compactMap { GainMapMetadata(of: $0).map { Array($0.packet.readableBytesView) } }
            + [[0, 0, 0, 0, 0x48] + [100, 0, 200, 50, 100, 100, 1, 2].flatMap { [0, 0, 0, $0] as [UInt8] }]
    }
}
