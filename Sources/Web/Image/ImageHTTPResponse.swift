import DarkroomCache
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The HTTP response with an image, or 304 when the client has it.
struct ImageHTTPResponse {
    let image: ImageResponse
    let query: ImageQuery
    let authorization: Authorization
    let configuration: WebConfiguration
    /// The member `cache` of `/info`, if requested. The response is not cacheable then.
    var caching: CachingDocument?

    /// The entity tag: 128 bits of the content's hash.
    var tag: EntityTag {
        EntityTag("\(image.digest.prefix(32))\(query.encodesBase64 ? "-base64" : "")")
    }

    /// The body of a response that is not deferred.
    var body: ByteBuffer { caching?.added(to: image.body) ?? (query.encodesBase64 ? image.dataURL : image.body) }

    func response(to head: RequestHead) -> Response {
        if isNotModified(head) {
            var response = Response(status: .notModified, headers: fields)
            // It would be the length of the image, not of this empty response (RFC 9110 §8.6).
            response.headers[.contentLength] = nil
            return response
        }
        return Response(
            status: .ok, headers: fullFields(fields),
            body: image.deferredBody.map { ResponseBody($0) } ?? ResponseBody(byteBuffer: body))
    }

    /// The response to an upload. It describes no resource, so that it has no validators, and no cache stores it.
    func responseToUpload() -> Response {
        var fields = fullFields(fields)
        for name in [.eTag, .lastModified, .age, configuration.tagger?.field.name] {
            if let name { fields[name] = nil }
        }
        // A client must not learn whether the same bytes were uploaded before: neither field reveals a hit.
        if image.cache.isStored || image.cache.variant != nil {
            fields[.serverTiming] = Timings(total: image.timings.total).serverTiming
        }
        var report = CacheReport(forwarded: .bypass)
        report.isUpload = true
        fields[.cacheStatus] = report.status(remaining: .zero).description
        fields[.cacheControl] = CacheControl.noStore.description
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: body))
    }

    /// The fields of a response that has a body.
    func fullFields(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        fields.add(.contentType, query.encodesBase64 ? "text/plain" : image.format.mediaType)
        let disposition = query.isAttachment ? "attachment" : "inline"
        fields.add(.contentDisposition, disposition + (fileName.map(Self.fileNameParameters) ?? ""))
        return fields
    }

    /// A name beyond ASCII is a second parameter (RFC 8187), which takes precedence (RFC 6266 §4.3).
    private static func fileNameParameters(_ name: String) -> String {
        let plain = String(name.unicodeScalars.map { $0.isASCII ? Character($0) : "_" })
        return "; filename=\"\(plain)\"" + (plain == name ? "" : "; filename*=UTF-8''\(PercentEncoding.encode(name))")
    }

    private var fileName: String? {
        guard let name = query.fileName, name.hasSuffix(".*") else { return query.fileName }
        return name.dropLast() + image.format.fileExtension
    }

    /// Whether the client has the image.
    func isNotModified(_ head: RequestHead) -> Bool {
        guard caching == nil else { return false }
        return Preconditions.evaluate(
            method: head.method, fields: head.fields(.ifNoneMatch, .ifModifiedSince), tag: tag,
            lastModified: lastModified) == .notModified
    }

    private var isFallback: Bool { image.substitutionReason != nil }

    /// Omitted for a fallback: the source may have an older date once it is available again. Omitted for an interim
    /// format too: the image in the preferred format has the same date.
    private var lastModified: Date? { isFallback || image.isInterim || caching != nil ? nil : image.lastModified }

    /// The fields of both 200 and 304 responses (RFC 9110 §15.4.5).
    private var fields: HTTPFields {
        var fields = lastingFields
        fields.append(contentsOf: passingFields)
        fields[.serverTiming] = image.timings.serverTiming
        return fields
    }

    /// The fields that stay the same while the image and its records do.
    var lastingFields: HTTPFields {
        var fields = Self.protection
        fields.add(.eTag, caching == nil ? tag.description : nil)
        fields.add(.lastModified, lastModified.map { HTTPDate($0).description })
        fields.add(.vary, configuration.negotiation.vary(of: query))
        fields.add(.acceptCH, configuration.negotiation.acceptCH(of: query))
        fields.add(.quality, image.quality?.description)
        fields.add(.damaged, image.isDamaged ? "?1" : nil)
        fields.add(.undrawn, image.gaps.isEmpty ? nil : image.gaps.names.joined(separator: ", "))
        fields.add(.faces, image.faces.map(String.init))
        fields.add(.placeholderBlurHash, image.placeholders?.blurHash)
        fields.add(.placeholderThumbHash, image.placeholders?.thumbHash)
        fields.add(.placeholderColor, image.placeholders?.dominantColor)
        fields.add(.placeholderLqip, image.placeholders?.lqip)
        configuration.tagger?.tag(&fields, of: image)
        return fields
    }

    /// The fields that change with time, in whole seconds, or with the way of the image.
    var passingFields: HTTPFields {
        var fields = HTTPFields()
        fields.add(.cacheControl, cacheControl)
        // At most 2³¹ (RFC 9111 §1.2.2).
        fields.add(.age, String(min(max(0, age.components.seconds), 1 << 31)))
        fields.add(.cacheStatus, image.cache.status(remaining: image.remaining).description)
        fields.add(.proxyStatus, (image.substitutionReason ?? image.cache.staleBecause)?.proxyStatus?.description)
        return fields
    }

    /// Keeps images inert in browsers, although other sites may embed them.
    private static let protection: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        .crossOriginResourcePolicy: "cross-origin",
    ]

    private var cacheControl: String {
        // A later response may have the requested placeholders.
        guard query.placeholders.isEmpty || image.placeholders != nil, caching == nil else {
            return CacheControl.noStore.description
        }
        var control = image.cachePolicy.cacheControl(
            age: image.age, sentAge: age, asked: query.maxAge, cap: cap)
        if image.isInterim || image.isDamaged { (control.isImmutable, control.staleWhileRevalidate) = (false, nil) }
        return authorization.restricting(control).description
    }

    /// Zero for a response that is to be replaced soon: caches that ignore `Age`, as nginx does, would add it to the
    /// short lifetime.
    private var age: Duration { isFallback || image.isInterim || image.isDamaged ? .zero : image.age }

    private var cap: Duration {
        var cap = configuration.variantMaxAge
        if isFallback { cap = min(cap, Self.fallbackMaxAge) }
        if image.isInterim { cap = min(cap, Self.interimMaxAge) }
        if image.isDamaged { cap = min(cap, Self.damagedMaxAge) }
        if let remaining = authorization.remaining(at: configuration.now()) { cap = min(cap, remaining) }
        return cap
    }

    /// Short, because the source may be available again soon.
    private static let fallbackMaxAge = Duration.seconds(60)
    /// Short, because the source may be replaced by an intact file.
    private static let damagedMaxAge = Duration.seconds(60)
    /// Short, because the image in the preferred format is under way.
    private static let interimMaxAge = Duration.seconds(10)
}

extension ResponseBody {
    /// A body that is read in pieces as the client takes them. If that fails, the connection closes before its end.
    fileprivate init(_ stored: StoredBody) {
        self.init(contentLength: stored.count) { writer in
            var position = 0
            while position < stored.count {
                guard let piece = await stored.piece(at: position) else { throw UnreadableBody() }
                try await writer.write(piece)
                position += piece.readableBytes
            }
            try await writer.finish(nil)
        }
    }
}

/// The file of a body was changed, or its device failed, while the body was sent.
private struct UnreadableBody: Error {}

extension ImageResponse {
    /// The image as a `data:` URL (RFC 2397).
    fileprivate var dataURL: ByteBuffer {
        ByteBuffer(string: "data:\(format.mediaType);base64,\(data.base64EncodedString())")
    }
}

extension OutputFormat {
    fileprivate var fileExtension: String { isText && self != .json ? "txt" : rawValue }
}

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
