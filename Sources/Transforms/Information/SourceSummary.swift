import Foundation
package import NIOCore

/// The members of a source's JSON document that decide how large results are.
package struct SourceSummary: Decodable, Hashable, Sendable {
    package let format: SourceFormat
    /// As stored, before orientation; one frame.
    package let width: Int
    package let height: Int
    /// EXIF orientation 1…8.
    package let orientation: Int
    /// Frames or pages.
    package let pages: Int

    /// The accepted pixels of a side, with which arithmetic on areas and frames cannot overflow.
    package static let sides = 1...1_000_000_000

    /// Reads a document in the format ``OutputFormat/json``. Throws also for numbers that no source has, as from a
    /// compromised worker.
    package init(parsing document: ByteBuffer) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(document.readableBytesView))
        guard Self.sides.contains(width), Self.sides.contains(height), Self.sides.contains(pages),
            (1...8).contains(orientation)
        else { throw ImageProcessingError.corrupt("a document with impossible sizes") }
    }

    /// Whether it is an animation of several frames.
    package var isAnimated: Bool { format.isAnimation && pages > 1 }
}

/// The size of a result before it is made.
package struct PlannedSize: Hashable, Sendable {
    package let size: PixelSize
    /// Whether the result has this size. If a step like `trim` learns its size from pixels, it may be smaller.
    package let isExact: Bool
}

extension TransformChain {
    /// The size of the result for a source of which only the summary is known.
    package func size(for source: SourceSummary) throws(TransformError) -> PlannedSize {
        let size = PixelSize(width: source.width, height: source.height)
        let plan = try plan(
            ChainPlan(source: size, orientation: source.orientation, isVector: source.format.isVector))
        return PlannedSize(size: plan.size, isExact: plan.isSizeKnown)
    }
}
