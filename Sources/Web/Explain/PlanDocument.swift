import DarkroomRequests
import DarkroomTransforms

/// The plan of an image as JSON: its source, steps, output, estimated memory and processor time.
struct PlanDocument: Encodable {
    struct Source: Encodable {
        let format: String
        let width: Int
        let height: Int
        let pages: Int
        let bytes: Int
    }

    struct Step: Encodable {
        let name: String
        let width: Int
        let height: Int
    }

    struct FaceSearch: Encodable {
        let purpose: String
        let width: Int
        let height: Int
        let estimatedProcessorMilliseconds: Double
    }

    struct Output: Encodable {
        let width: Int
        let height: Int
        let frames: Int
    }

    let source: Source
    let shrinkOnLoad: Double
    let steps: [Step]
    /// Nil = no faces are looked for.
    let faceSearches: [FaceSearch]?
    let output: Output
    let effort: Int?
    let preferredFormat: String?
    /// The bits of a sample of the result; nil for texts.
    let depth: Int?
    /// What becomes of the gain map of the source; nil = it has none.
    let gainMap: String?
    /// What becomes of the data of a JPEG; nil = pixels are encoded.
    let jpegData: String?
    /// What of an SVG is not drawn as browsers draw it; nil = nothing is known to differ.
    let undrawn: [String]?
    let exact: Bool
    let estimatedMemoryBytes: Int
    let estimatedProcessorMilliseconds: Double

    init(_ plan: ImagePlan) {
        source = Source(
            format: plan.sourceFormat.rawValue, width: plan.sourceSize.width, height: plan.sourceSize.height,
            pages: plan.sourceFrames, bytes: plan.sourceBytes)
        shrinkOnLoad = plan.shrinkOnLoad.thousandths
        steps = plan.steps.map { Step(name: $0.name, width: $0.size.width, height: $0.size.height) }
        faceSearches =
            plan.faceSearches.isEmpty
            ? nil
            : plan.faceSearches.map {
                FaceSearch(
                    purpose: $0.purpose.rawValue, width: $0.size.width, height: $0.size.height,
                    estimatedProcessorMilliseconds: $0.work.thousandths)
            }
        output = Output(width: plan.size.width, height: plan.size.height, frames: plan.frames)
        (effort, preferredFormat) = (plan.effort, plan.preferredFormat?.rawValue)
        depth = plan.depth
        (gainMap, jpegData) = (plan.gainMap?.rawValue, plan.jpegData?.rawValue)
        undrawn = plan.gaps.isEmpty ? nil : plan.gaps.names
        exact = plan.isExact
        estimatedMemoryBytes = plan.estimatedMemoryBytes
        estimatedProcessorMilliseconds = plan.expectedWork.thousandths
    }
}
