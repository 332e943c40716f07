package import DarkroomRequests
package import DarkroomStore
package import Foundation

/// Content of which a part failed to decode: it is not an image, or the image is corrupt.
package struct UndecodableContent: Sendable {
    package var record: SourceRecord
    /// The decoder's error.
    package let error: any Error
    /// The part that failed.
    package let part: SourcePart
    /// When decoding is tried again, even if the content is still the same.
    package let expiry: Date

    private static let maxLifetimeSeconds: TimeInterval = 3_600

    package init(_ record: SourceRecord, _ error: any Error, of part: SourcePart, decodedAt now: Date) {
        self.record = record
        self.error = error
        self.part = part
        expiry = now.addingTimeInterval(Self.maxLifetimeSeconds)
    }
}

/// The part of a source that a request decodes, which may fail although other parts do not.
package struct SourcePart: Hashable, Sendable {
    /// The frames or pages; nil = whichever a request selects.
    private let pages: PageSelection?
    /// Whether pixels are decoded; otherwise only the header is read.
    private let needsPixels: Bool
    /// The only variant that needs the part; nil = all that need these frames or pages.
    private let variant: StoreKey?
    /// Whether it is decoded as far as possible.
    private let showsDamage: Bool

    package init(_ pages: PageSelection?, needsPixels: Bool, variant: StoreKey?, showsDamage: Bool = false) {
        self.showsDamage = showsDamage
        self.pages = pages
        self.needsPixels = needsPixels
        self.variant = variant
    }

    /// The same of all variants.
    package var ofAllVariants: SourcePart {
        SourcePart(pages, needsPixels: needsPixels, variant: nil, showsDamage: showsDamage)
    }

    /// The same of all variants, and of whichever frames or pages a request selects.
    package var ofAllPages: SourcePart {
        SourcePart(nil, needsPixels: needsPixels, variant: nil, showsDamage: showsDamage)
    }

    /// Whether decoding this part decodes the other too, so that it fails if the other does.
    func includes(_ other: SourcePart) -> Bool {
        guard needsPixels || !other.needsPixels, !showsDamage || other.showsDamage,
            other.variant == nil || other.variant == variant
        else { return false }
        guard let selected = other.pages else { return true }
        return pages?.includes(selected) ?? false
    }
}

extension PageSelection {
    /// Whether the other frames or pages are among these, as far as that is known without the source.
    fileprivate func includes(_ other: PageSelection) -> Bool {
        guard first == other.first, mayBeFewer == other.mayBeFewer else { return false }
        if self == other || other.count == 1 { return true }
        guard !isThinned, !other.isThinned, let count, let fewer = other.count else { return false }
        return fewer <= count
    }
}
