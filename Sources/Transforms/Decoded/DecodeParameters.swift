/// What a loader is asked for. Of equal bytes, equal parameters give equal pixels: that is what makes a kept picture usable.
struct DecodeParameters: Hashable, Sendable {
    /// The first frame or page, from 1.
    let firstPage: Int
    /// How many frames or pages, at least 1.
    let frames: Int
    /// 1, 2, 4 or 8: how far a JPEG's decoder shrinks.
    var shrink = 1
    /// The scale at which a WebP is decoded or an SVG drawn.
    var scale = 1.0

    init(firstPage: Int = 1, frames: Int = 1) {
        self.firstPage = firstPage
        self.frames = frames
    }
}
