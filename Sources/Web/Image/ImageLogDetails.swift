import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomTransforms

extension AccessLogDetails {
    /// The details of a request for an image, or for a document about one.
    ///
    /// - Parameters:
    ///   - source: the source that was requested.
    ///   - form: how much of it is logged besides its host.
    ///   - image: nil before there is one.
    ///   - error: nil unless the request failed.
    init(_ source: SourceURL, as form: LoggedSource, _ image: ImageResponse? = nil, error: PipelineError? = nil) {
        let failure = error ?? image?.fallbackReason ?? image?.cache.staleBecause
        let originStatus = image?.cache.originStatus ?? failure?.proxyStatus?.receivedStatus
        self.init(
            [
                "format": (image?.format.rawValue).map(Value.text),
                "height": (image?.size.height).map(Value.number),
                "origin-error": (failure?.originError).map(Value.text),
                "origin-status": originStatus.map(Value.number),
                "source": source.logged(as: form).map(Value.text),
                "source-bytes": (image?.sourceBytes).map(Value.number),
                "source-host": .text(source.loggedHost),
                "tier": (image?.cache.detail.text).map(Value.text),
                "width": (image?.size.width).map(Value.number),
            ], isHit: image.map { ImageMetrics.Outcome($0).isHit } ?? false)
    }
}

extension SourceURL {
    /// At most the length of a DNS name; the parser accepts longer ones.
    fileprivate var loggedHost: String {
        switch scheme {
        case .http, .https: String((host?.description ?? "").prefix(253))
        case .s3: origin
        case .local: "local:"
        case .upload: "upload:"
        case .color: "color:"
        }
    }
}
