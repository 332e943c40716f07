/// Which frames of an animation, or pages of a document, are kept.
public struct PageSelection: Hashable, Codable, Sendable {
    /// The first one kept, from 1.
    public var first: Int
    /// How many are kept; nil = all of an animation, one of a document.
    public var count: Int?

    /// All of an animation, or the first page, unless said otherwise.
    public init(first: Int = 1, count: Int? = nil) {
        self.first = first
        self.count = count
    }

    /// How many frames of this source come to be used, where the output can hold `several`.
    func framesUsed(of header: SourceHeader, several: Bool) throws(ImageProcessingError) -> Int {
        guard first <= header.frames else {
            throw .badParameter(
                TransformError(
                    parameter: "page",
                    reason: "\(first) was asked for, but the source has \(header.frames) "
                        + (header.frames == 1 ? "frame or page" : "frames or pages")))
        }
        guard several else { return 1 }
        let wanted = count ?? (header.format.isAnimation ? header.frames : 1)
        return min(wanted, header.frames - first + 1)
    }
}
