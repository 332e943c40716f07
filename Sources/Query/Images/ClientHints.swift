import DarkroomTransforms

/// The client hints about the size of an image (HTML, Client Hints; RFC 8942).
package struct ClientHints: Hashable, Sendable {
    /// The pixels of the screen per CSS pixel.
    var pixelRatio: Hundredths?
    /// The width that the page shows the image at, in pixels of the screen.
    var width: Int?

    /// The fields, as `Accept-CH` and `Vary` list them.
    package static let fieldNames = ["Sec-CH-DPR", "Sec-CH-Width"]

    /// Widths are rounded up to a multiple of this, so that pages of nearly the same layout share images.
    private static let widthStep = 50

    /// Values that are malformed or out of range are ignored.
    ///
    /// - Parameters:
    ///   - pixelRatio: The field `Sec-CH-DPR`.
    ///   - width: The field `Sec-CH-Width`.
    package init(pixelRatio: String?, width: String?) {
        if let ratio = pixelRatio.flatMap(Digits.decimal), (0.1...8).contains(ratio) {
            self.pixelRatio = Hundredths(count: Int((max(ratio, 1) * 100).rounded()))
        }
        if let width = width.flatMap(Digits.integer), width >= 1 {
            self.width = (width + Self.widthStep - 1) / Self.widthStep * Self.widthStep
        }
    }
}

extension ImageQueryDraft {
    /// The draft with what the client's hints say about a size that the URL leaves open. Unlike those of the URL, their
    /// values are limited to what the server makes.
    func applying(_ hints: ClientHints, _ limits: QueryLimits) -> ImageQueryDraft {
        var draft = self
        guard format.isImage else { return draft }
        if width == nil, height == nil {
            draft.query.dependsOnClientHints = true
            if let shown = hints.width {
                draft.width = .pixels(min(max(shown, minWidth ?? 1), limits.maxOutputSide))
                draft.pixelRatio = .one
            }
        } else if !hasPixelRatio, [width, height].allSatisfy({ $0 == nil || $0?.pixels != nil }) {
            // A part of the source's size has no CSS pixels to multiply.
            draft.query.dependsOnClientHints = true
            let longest = [width?.pixels, height?.pixels, minWidth, minHeight].compactMap(\.self).max() ?? 1
            let most = limits.maxOutputSide * 100 / max(longest, 1)
            if let ratio = hints.pixelRatio, most >= 100 {
                draft.pixelRatio = Hundredths(count: min(ratio.count, most))
            }
        }
        return draft
    }
}

extension OutputName {
    fileprivate var isImage: Bool {
        if case .format(let format) = self { !format.isText } else { true }
    }
}
