import DarkroomNetwork
import DarkroomRequests

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
    /// Ratios are rounded up to one of these, so that screens and zoomed pages share images.
    static let pixelRatios = [100, 150, 200, 250, 300, 350, 400].map(Hundredths.init(count:))

    /// Reads the fields `Sec-CH-DPR` and `Sec-CH-Width`. Values that are malformed or out of range are ignored.
    package init(pixelRatio: String?, width: String?) {
        if let ratio = pixelRatio.flatMap(Digits.decimal), (0.1...8).contains(ratio) {
            let count = Int((ratio * 100).rounded())
            self.pixelRatio = Self.pixelRatios.first { $0.count >= count } ?? Self.pixelRatios.last
        }
        if let width = width.flatMap(Digits.integer), width >= 1 {
            self.width = (width + Self.widthStep - 1) / Self.widthStep * Self.widthStep
        }
    }
}

extension ImageQueryDraft {
    /// The draft with the client's hints for sizes that the URL leaves open. Unlike values in the URL, the values of
    /// hints are reduced to the server's limits: a hint never makes a query invalid.
    func applying(_ hints: ClientHints, _ limits: QueryLimits) -> ImageQueryDraft {
        var draft = self
        guard format.isImage else { return draft }
        if width == nil, height == nil {
            draft.query.dependsOnClientHints = true
            guard let shown = hints.width else { return draft }
            return draft.with(hints.pixelRatio, limits) { $0.showing(shown, limits) } ?? draft
        }
        // A part of the source's size has no CSS pixels to multiply.
        guard !hasPixelRatio, [width, height].allSatisfy({ $0 == nil || $0?.pixels != nil }) else { return draft }
        draft.query.dependsOnClientHints = true
        return draft.with(hints.pixelRatio, limits) { $0 } ?? draft
    }

    /// The draft with the greatest pixel ratio, up to the client's, at which its lengths stay within their limits; nil
    /// if no ratio qualifies. A ratio in the URL takes precedence.
    private func with(
        _ most: Hundredths?, _ limits: QueryLimits, _ change: (ImageQueryDraft) -> ImageQueryDraft
    ) -> ImageQueryDraft? {
        guard !hasPixelRatio, let most else { return change(self).isWithin(limits) }
        for ratio in ClientHints.pixelRatios.reversed() where ratio.count <= most.count {
            var draft = self
            draft.pixelRatio = ratio
            if let draft = change(draft).isWithin(limits) { return draft }
        }
        return nil
    }

    private func isWithin(_ limits: QueryLimits) -> ImageQueryDraft? {
        var recipe = query.recipe
        recipe.text = text
        guard (try? box(limits)) != nil, (try? multiplyLengths(of: &recipe)) != nil else { return nil }
        return self
    }

    /// The draft with a width in pixels of the screen, as far as the other parameters of the box permit it.
    private func showing(_ width: Int, _ limits: QueryLimits) -> ImageQueryDraft {
        var (least, most) = (minWidth.map(pixelRatio.times) ?? 1, limits.maxOutputSide)
        if let aspectRatio {
            let (across, down) = (aspectRatio.width, aspectRatio.height)
            least = max(least, ((minHeight.map(pixelRatio.times) ?? 1) * across + down - 1) / down)
            most = min(most, most * across / down)
        }
        var draft = self
        draft.shownWidth = max(min(max(width, least), most), 1)
        return draft
    }
}

extension OutputName {
    fileprivate var isImage: Bool {
        if case .format(let format) = self { !format.isText } else { true }
    }
}

/// What a client says about its connection (Save Data API, Network Information API).
package struct ConnectionHints: Hashable, Sendable {
    /// The fields that ``isSlow`` depends on.
    package static let fieldNames = ["Save-Data", "ECT", "RTT", "Downlink"]
    /// The fields that browsers send only to servers that ask for them with `Accept-CH`.
    package static let requestedNames = Array(fieldNames.dropFirst())
    /// Above this round-trip time, in milliseconds, a connection is slow.
    private static let maxRoundTrip = 150.0
    /// Below this rate, in megabits per second, a connection is slow.
    private static let minDownlink = 5.0

    /// Whether the client asks for less data, or its connection is 3G or slower, has a long round-trip time or a low
    /// rate.
    package let isSlow: Bool

    /// Reads the fields `Save-Data`, `ECT`, `RTT` in milliseconds, and `Downlink` in megabits per second.
    package init(
        saveData: String?, effectiveType: String? = nil, roundTrip: String? = nil, downlink: String? = nil
    ) {
        let savesData = saveData.map(Self.isOn) ?? false
        isSlow =
            savesData || ["slow-2g", "2g", "3g"].contains(effectiveType.map(Self.word))
            || roundTrip.flatMap(Self.number).map { $0 > Self.maxRoundTrip } ?? false
            || downlink.flatMap(Self.number).map { $0 < Self.minDownlink } ?? false
    }

    /// Whether a `Save-Data` field has the token `on`, with or without parameters.
    private static func isOn(_ field: String) -> Bool {
        String(field.prefix { $0 != ";" }).lowercased().split(separator: " ") == ["on"]
    }

    private static func word(_ field: String) -> String { Substring(field).trimmingBlanks.lowercased() }

    /// A number without a sign; nil for any other text.
    private static func number(_ field: String) -> Double? {
        let text = word(field)
        return text.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") } ? Double(text) : nil
    }
}
