import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import NIOCore

/// The image parameters of a command line, for each format that a result may have.
struct FileQueries: Sendable {
    /// The format that `--output` names; nil = the format of each file's extension.
    let format: OutputFormat?
    /// The query for a result in each format that this build writes.
    private(set) var byFormat: [OutputFormat: FileQuery] = [:]

    init(_ parameters: [(name: String, value: String?)]) throws(InvalidParameter) {
        // Without a request there is no Accept, so that `auto` is the same as no `output`.
        let parameters = parameters.filter { $0.name != "output" || $0.value != "auto" }
        let query = try FileQuery(parameters)
        format = query.output.format
        if let format { byFormat[format] = query }
        for other in InstalledCodecs.current.writable where format == nil {
            byFormat[other] = try FileQuery(parameters + [("output", other.rawValue)])
        }
    }
}

extension FileQuery {
    /// The job that makes the result of a source.
    func job(_ source: ByteBuffer) -> ImageJob {
        ImageJob(
            source: source, pages: pages, chain: TransformChain(recipe, limits: PixelLimits()),
            resampling: recipe.resampling, output: output)
    }
}

extension ImageProcessingError {
    var sentence: String {
        switch self {
        case .unsupported: "The input is not an image in a supported format."
        case .missingDecoder(let format): "The input cannot be read: \(MissingCodec.decoder(format).reason)."
        case .outdatedDecoder(let feature): "The input cannot be read: \(feature.reason)."
        case .corrupt(let reason): "The input is corrupt or truncated (\(reason))."
        case .tooLarge(let reason): reason
        case .badParameter(let error): "\(error.parameter): \(error.reason)."
        case .interrupted: "Processing was interrupted or took too long."
        case .transformFailed(let reason), .encodingFailed(let reason): "Processing failed (\(reason))."
        case .mark(let error, _): "The watermark failed. \(error.sentence)"
        }
    }
}
