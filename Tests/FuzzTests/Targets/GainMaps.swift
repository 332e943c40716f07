import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    private static let names = [
        "MPF\0", "II*\0", "MM\0*", "\u{FF}\u{E1}", "\u{FF}\u{E2}", "\u{FF}\u{D8}\u{FF}", "hdrgm:GainMapMax=\"",
        "hdrgm:Gamma", "<rdf:li>", "</rdf:Seq>", "urn:iso:std:iso:ts:21496:-1\0", "1e999", "-nan", "&amp;", "\0\0\0\0",
        "\u{FF}\u{FF}\u{FF}\u{FF}",
    ]

    @Test func `a damaged index of images lists parts of its file only, and a new index lists the new image`() {
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

    @Test func `damaged metadata of a gain map is numbers in range, which are written and read as they are`() {
        let seeds = MultiPictureSeeds.maps
        fuzzer.run("gain maps", bytes: seeds, words: Self.names) { input in
            let file = ByteBuffer(bytes: input)
            var fields = file
            let all = [GainMapMetadata(of: file), GainMapMetadata(xmp: input), GainMapMetadata(iso: &fields)]
            for metadata in all.compactMap(\.self) {
                let lists = [
                    metadata.least, metadata.most, metadata.gamma, metadata.baseOffset, metadata.alternateOffset,
                ]
                try hold(lists.joined().allSatisfy { abs($0) <= 64 }, "\(lists)")
                // Six decimals remain.
                guard metadata.gamma.allSatisfy({ $0 > 1e-5 }), metadata.mostHeadroom - metadata.leastHeadroom > 1e-5
                else { continue }
                guard let again = GainMapMetadata(xmp: metadata.packet.readableBytesView) else {
                    throw Unheld(reason: "unreadable")
                }
                let others = [again.least, again.most, again.gamma, again.baseOffset, again.alternateOffset]
                try hold(zip(lists.joined(), others.joined()).allSatisfy { abs($0 - $1) < 1e-6 }, "\(others)")
                try hold(lists.map(\.count) == others.map(\.count), "\(others)")
            }
        }
    }
}

private enum MultiPictureSeeds {
    /// The gain maps of the fixtures, and their metadata.
    static var maps: [[UInt8]] {
        let maps = Pictures.whole(named: ["jpg"]).flatMap { MultiPictureIndex.furtherImages(in: ByteBuffer(bytes: $0)) }
        return maps.map { Array($0.readableBytesView) }
            + maps.compactMap { GainMapMetadata(of: $0).map { Array($0.packet.readableBytesView) } }
            + [[0, 0, 0, 0, 0x48] + [100, 0, 200, 50, 100, 100, 1, 2].flatMap { [0, 0, 0, $0] as [UInt8] }]
    }
}
