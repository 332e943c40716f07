import DarkroomRequests
import DarkroomTransforms

// A worker may be compromised: every value that it sends is checked before it is used.

extension ProcessedImage {
    /// Whether the values are possible for the job.
    func isPlausible(for job: ImageJob) -> Bool {
        let numbers = [size.width, size.height, frames]
        let durations = [stages?.decode, stages?.transform, stages?.encode, stages?.compare].compactMap { $0 }
        return numbers.allSatisfy((1...SourceHeader.maxSide).contains) && job.output.permits(format)
            && (quality?.isSource != true || job.output.mayKeepPixels(of: sourceFormat))
            && (0...9).contains(effort ?? 0)
            && (!isDamaged || job.output.damaged == .show && !isProven)
            && gaps.isSubset(of: sourceFormat.isVector ? .all : [])
            && (0...FaceDetector.maxFaces).contains(faces ?? 0)
            && durations.allSatisfy((.zero...Self.maxDuration).contains)
    }

    /// A day, which no job takes.
    private static let maxDuration = Duration.seconds(86_400)
}

extension ImagePlan {
    /// Whether the values are possible, and arithmetic on them cannot overflow an `Int`.
    var isPlausible: Bool {
        let sizes = [sourceSize, size, largest] + steps.map(\.size) + faceSearches.map(\.size)
        let numbers = [sourceFrames, sourceBytes, framesUsed, frames, estimatedMemoryBytes]
        return steps.count <= WireEncoder.maxListCount && steps.allSatisfy { $0.name.utf8.count <= 64 }
            && shrinkOnLoad.isFinite && (0...9).contains(effort ?? 0) && (0...1e18).contains(expectedWork)
            && (0...1e18).contains(choiceWork) && (0...1e18).contains(webPChoiceWork ?? 0)
            && (0...1e18).contains(encodingWork)
            && faceSearches.count <= WireEncoder.maxListCount
            && faceSearches.allSatisfy { (0...1e18).contains($0.work) }
            && gaps.isSubset(of: .all)
            && sizes.flatMap { [$0.width, $0.height] }.allSatisfy((0...SourceHeader.maxSide).contains)
            && numbers.allSatisfy((0...1 << 60).contains)
    }
}

extension DecodedStatistics {
    /// Whether sums of such numbers fit in an `Int`.
    var isPlausible: Bool { [entries, bytes, hits, misses].allSatisfy((0...1 << 40).contains) }
}

extension ImageProcessingError {
    /// Maximum length of a text in characters.
    private static let maxCharacters = 1000

    /// The error with texts cut to 1,000 characters, and further if these are long in UTF-8.
    var shortened: ImageProcessingError {
        switch self {
        case .unsupported, .missingDecoder, .outdatedDecoder, .interrupted: self
        case .corrupt(let text): .corrupt(Self.cut(text))
        case .tooLarge(let text): .tooLarge(Self.cut(text))
        case .badParameter(let error):
            .badParameter(TransformError(parameter: Self.cut(error.parameter), reason: Self.cut(error.reason)))
        case .transformFailed(let text): .transformFailed(Self.cut(text))
        case .encodingFailed(let text): .encodingFailed(Self.cut(text))
        case .mark(let error, let name): .mark(error.shortened, name: Self.cut(name))
        }
    }

    private static func cut(_ text: String) -> String {
        let cut = String(text.prefix(maxCharacters))
        guard cut.utf8.count > WireEncoder.maxTextBytes else { return cut }
        return String(String.UnicodeScalarView(cut.unicodeScalars.prefix(WireEncoder.maxTextBytes / 4)))
    }
}
