import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import HTTPTypes

extension HTTPField.Name {
    /// `Accept-CH` (RFC 8942 §3.1).
    static let acceptCH = known("Accept-CH")
    /// `Save-Data` (Save Data API).
    static let saveData = known("Save-Data")
    /// `ECT`, `RTT` and `Downlink` (Network Information API).
    static let effectiveConnectionType = known("ECT")
    static let roundTripTime = known("RTT")
    static let downlink = known("Downlink")
    static let secCHDPR = known("Sec-CH-DPR")
    static let secCHWidth = known("Sec-CH-Width")

    static let quality = known("X-Quality")
    /// A structured field (RFC 9651): `?1` if parts of the source could not be decoded.
    static let damaged = known("X-Damaged")
    static let undrawn = known("X-Undrawn")
    /// The number of faces that were found for the image.
    static let faces = known("X-Faces")
    static let placeholderBlurHash = known("X-Placeholder-BlurHash")
    static let placeholderThumbHash = known("X-Placeholder-ThumbHash")
    static let placeholderColor = known("X-Placeholder-Color")
    static let placeholderLqip = known("X-Placeholder-Lqip")
}

extension ConnectionHints {
    /// The hints of a request; nil = of a client that states nothing. A plain request has no other hint.
    init(_ head: RequestHead?) {
        guard let head, !head.isPlain else {
            self.init(saveData: head?.saveData)
            return
        }
        self.init(head.fields(.saveData, .effectiveConnectionType, .roundTripTime, .downlink))
    }

    init(_ fields: HTTPFields) {
        self.init(
            saveData: fields[.saveData], effectiveType: fields[.effectiveConnectionType],
            roundTrip: fields[.roundTripTime], downlink: fields[.downlink])
    }
}

extension CacheReport {
    /// The value of `Cache-Status`. A hit names the cache tier; otherwise it says why the origin was contacted or that
    /// a variant was produced, and which tier had the variant or else the original, or that it was uploaded. The
    /// remaining freshness lifetime is negative when stale.
    func status(remaining: Duration) -> CacheStatus {
        let isHit = variant != nil && forwarded == nil
        return CacheStatus(
            cache: "darkroom", isHit ? .hit : .forwarded(forwarded ?? .miss), forwardStatus: originStatus,
            ttl: isUpload && !isStored ? nil : remaining.wholeSeconds, isStored: isStored, isCollapsed: isShared,
            detail: detail)
    }

    /// The tier that had the variant or else the original.
    var detail: CacheStatus.Name {
        switch (variant, original) {
        case (.memory?, _): "memory"
        case (.disk?, _): "disk"
        case (.shared?, _): "shared"
        case (nil, _) where isUpload: "upload"
        case (nil, .memory?): "original-memory"
        case (nil, .disk?): "original-disk"
        case (nil, .shared?): "original-shared"
        case (nil, nil): "original-miss"
        }
    }
}

extension Timings {
    /// The value of `Server-Timing`, such as `fetch;dur=12.345, total;dur=20.001`, in milliseconds. Stages that were
    /// not needed are omitted.
    var serverTiming: String {
        var text = ""
        let parts = [("fetch", fetch), ("queue", queue), ("process", process), ("store", store)]
        for case (let name, let duration?) in parts { text += "\(name);dur=\(duration.milliseconds), " }
        return text + "total;dur=\(total.milliseconds)"
    }
}

extension HTTPFields {
    /// Whether the value of a `Via` field lists a recipient of this pseudonym (RFC 9110 §7.6.3), as in `1.1 name` or
    /// `HTTP/1.1 name (comment)`.
    static func via(_ text: String, contains pseudonym: String) -> Bool {
        text.utf8.split(separator: UInt8(ascii: ",")).contains { hop in
            let words = hop.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            return words.count >= 2 && words[1].elementsEqual(pseudonym.utf8)
        }
    }
}

extension Duration {
    /// Whole seconds, rounded down, so that a lifetime that has just ended is negative.
    var wholeSeconds: Int {
        let (seconds, attoseconds) = components
        return Int(attoseconds < 0 ? seconds - 1 : seconds)
    }
}
