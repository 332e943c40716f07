import DarkroomRequests
import DarkroomVips

extension SourceFormat.Row {
    static let jpeg = SourceFormat.Row(
        signatures: [[0xFF, 0xD8, 0xFF]], loader: .jpeg, isEssential: true, statesDensity: true,
        detail: { bytes, _ in lossyDetail(2.8 * bytes) },
        bytes: { $0.needsWholeSource ? 3 * Double($0.sourceArea) : 0 },
        nanoseconds: { facts in
            guard facts.needsWholeSource else {
                return facts.rasterPixels * 7.5 + facts.storedPixels * 0.5 + facts.readBytes * 8.3
            }
            // Encoders write about ten scans. Each further scan goes over all pixels, however short it is.
            let furtherScans = Double(max(facts.scans - 10, 0))
            return facts.rasterPixels * 4 + facts.storedPixels * (3.2 + 0.17 * furtherScans) + facts.readBytes * 37
        })
}

extension OutputFormat.Row {
    static let jpeg = OutputFormat.Row(
        saver: .jpeg, holdsGray: true,
        stripped: JPEGContainer.stripped, addingXMP: JPEGContainer.adding(xmp:to:),
        addingProfile: JPEGContainer.adding(profile:to:), holdsEXIF: true,
        qualityModel: { .jpeg },
        arguments: { encoder, quality, strip in
            [
                "Q": .int(quality), "optimize_coding": true, "interlace": .bool(encoder.options.interlaced),
                "subsample_mode": encoder.subsampling, "strip": .bool(strip),
            ]
        },
        bytes: { $0.resultPixels * ($0.output.isFine ? 7 : 3.5) },
        nanosecondsPerPixel: { options, _ in (options.isFine ? 30 : 15) + (options.interlaced ? 18 : 0) })
}
