import NIOCore

/// How far libjpeg may shrink while it decodes: it can skip the finer parts of its transform, which is most of the work.
enum JPEGShrink {
    /// The largest of 8, 4, 2 and 1 that leaves `headroom` times the target on both sides.
    ///
    /// Never one that leaves a side shorter than a block: libvips 8.14.1 aborts the process on a picture one row high.
    static func factor(source: PixelSize, covering target: PixelSize, headroom: Int) -> Int {
        let fits = [8, 4, 2].first { factor in
            source.width >= factor * max(target.width * headroom, shortestSide)
                && source.height >= factor * max(target.height * headroom, shortestSide)
        }
        return fits ?? 1
    }

    /// The least of 1, 2, 4 and 8 that brings the picture down to so many pixels; nil where none does.
    static func factor(source: PixelSize, within maxPixels: Int) -> Int? {
        [1, 2, 4, 8].first { factor in
            source.shrunk(by: factor).area <= maxPixels
                && (factor == 1 || min(source.width, source.height) >= factor * shortestSide)
        }
    }

    /// A shrink gives `floor(height / factor)` rows, which may leave the last row of blocks unread, and with it a cut-off
    /// end unseen. Where the file does not end as it should, only a full decode can tell what is wrong.
    static func seesDamage(in source: ByteBuffer, height: Int, factor: Int) -> Bool {
        height.isMultiple(of: factor) || endsProperly(source)
    }

    private static let shortestSide = 8

    /// Whether an end-of-image marker stands behind the last start of scan.
    private static func endsProperly(_ source: ByteBuffer) -> Bool {
        let bytes = source.readableBytesView
        var index = bytes.endIndex - 2
        while index > bytes.startIndex {
            if bytes[index] == 0xFF {
                if bytes[index + 1] == 0xD9 { return true }
                if bytes[index + 1] == 0xDA { return false }
            }
            index -= 1
        }
        return false
    }
}
