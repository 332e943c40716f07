package import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomRequests
import HTTPTypes

/// The field with purge tags that responses have.
package enum ResponseTags: String, CaseIterable, Sendable {
    case none, cloudflare, fastly, akamai, bunny, xkey

    /// The field; nil = responses have no tags.
    package var field: TagField? {
        switch self {
        case .none: nil
        case .cloudflare: .cloudflare
        case .fastly: .fastly
        case .akamai: .akamai
        case .bunny: .bunny
        case .xkey: .xkey
        }
    }
}

/// Writes purge tags into responses.
struct ResponseTagger: Sendable {
    let field: TagField
    let tags: @Sendable (ImageResponse) -> EdgeTags
    let failureTags: @Sendable (ImageRequest) -> EdgeTags
    /// Called with the number of tags that a response lacks, if there are any.
    let onLeftOut: @Sendable (Int) -> Void

    func tag(_ fields: inout HTTPFields, of image: ImageResponse) { add(tags(image), to: &fields) }

    func tag(_ fields: inout HTTPFields, ofFailed request: ImageRequest) { add(failureTags(request), to: &fields) }

    private func add(_ tags: EdgeTags, to fields: inout HTTPFields) {
        let (text, leftOut) = field.value(of: tags)
        fields[field.name] = text
        if !leftOut.isEmpty { onLeftOut(leftOut.count) }
    }
}

extension ResponseTagger {
    /// Nil if responses have no tags.
    init?(_ tags: ResponseTags, _ pipeline: ImagePipeline, _ metrics: ImageMetrics) {
        guard let field = tags.field else { return nil }
        self.init(
            field: field, tags: pipeline.edgeTags, failureTags: pipeline.edgeTags, onLeftOut: metrics.recordLeftOutTags)
    }
}

extension TagField {
    /// The field's value; nil for none. And the tags that the response lacks.
    func value(of tags: EdgeTags) -> (text: String?, leftOut: [String]) {
        let (text, leftOut) = value(of: tags.kept)
        return (text, leftOut + tags.leftOut)
    }
}
