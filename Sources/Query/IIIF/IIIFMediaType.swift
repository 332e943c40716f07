import DarkroomNetwork

/// The media types of the document about an image (IIIF Image API 3.0 §5.1).
package enum IIIFMediaType: String, Sendable {
    case linkedData = #"application/ld+json;profile="http://iiif.io/api/image/3/context.json""#
    case json = "application/json"

    /// JSON if the client prefers it, otherwise JSON-LD.
    ///
    /// - Parameter accept: the field `Accept`.
    package init(accept: String?) {
        let ranges = accept.map { FieldList($0).members } ?? []
        self =
            Self.weight(of: "application/json", in: ranges) > Self.weight(of: "application/ld+json", in: ranges)
            ? .json : .linkedData
    }

    /// The weight of the most specific range that includes a type (RFC 9110 §12.5.1), in thousandths; 0 = no range
    /// includes it.
    private static func weight(of type: String, in ranges: [Substring]) -> Int {
        for name in [type, "application/*", "*/*"] {
            let weights = ranges.filter { range in
                range.prefix { $0 != ";" }.trimmingBlanks.lowercased() == name
            }.map { FormatNegotiation.weight(of: $0) }
            if let weight = weights.max() { return weight }
        }
        return 0
    }
}
