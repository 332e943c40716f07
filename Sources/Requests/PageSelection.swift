/// The frames of an animation, or pages of a document, that are used.
public struct PageSelection: Hashable, Codable, Sendable {
    /// The first page used, counted from 1, or ``primary``, ``largest`` or ``smallest``.
    public var first: Int
    /// The number of frames or pages that are used; nil = all frames of an animation, one page of a document.
    public var count: Int?
    /// Whether the frames of an animation are chosen evenly from all frames after the first, so that its duration
    /// stays. Otherwise the first `count` of them are used.
    public var isThinned = false
    /// Whether the last frame or page is used if there are fewer than ``first``. Otherwise that is an error.
    public var mayBeFewer = false

    /// In place of a number: the primary image of a HEIC or AVIF file, and the first page of other formats.
    public static let primary = 0
    /// In place of a number: the first page or icon image with the most pixels.
    public static let largest = -1
    /// In place of a number: the first page or icon image with the fewest pixels.
    public static let smallest = -2

    /// All of an animation, or the primary page of a document by default.
    public init(
        first: Int = PageSelection.primary, count: Int? = nil, isThinned: Bool = false, mayBeFewer: Bool = false
    ) {
        self.first = first
        self.count = count
        self.isThinned = isThinned && count ?? 1 > 1
        self.mayBeFewer = mayBeFewer && first > 0
    }
}
