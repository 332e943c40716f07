import DarkroomCFaces
import DarkroomRequests
import DarkroomVips

/// A face, as shares of the image that it was found in: 0 = the left or upper edge, 1 = the right or lower edge.
struct Face: Hashable, Sendable {
    var left, top, right, bottom: Double
    /// The score of the detector above its threshold; more is more certain, and seldom more than 3.
    var confidence: Double

    var area: Double { (right - left) * (bottom - top) }

    /// The face with hair, ears and chin: the detector finds the part from the eyebrows to the mouth.
    var head: Face {
        let (width, height) = (right - left, bottom - top)
        return Face(
            left: max(left - 0.3 * width, 0), top: max(top - 0.6 * height, 0), right: min(right + 0.3 * width, 1),
            bottom: min(bottom + 0.3 * height, 1), confidence: confidence)
    }
}

/// dlib's detector of frontal faces: histograms of oriented gradients in windows of 80 pixels, over a pyramid of sizes.
public enum FaceDetector {
    /// Whether it was compiled in, which takes dlib's headers.
    public static var isBuiltIn: Bool { darkroom_faces_built_in() }

    /// The package of Debian and Ubuntu with dlib's headers.
    public static let package = "libdlib-dev"

    /// The most faces that a result states.
    package static let maxFaces = 100
    /// The most faces that are found in an image. With more, the search fails, so that none of them stays visible.
    private static let capacity = 1_000

    /// Makes the detector, which takes about half a second of processor time, unless it is made already. Starts no
    /// thread.
    package static func prepare() { _ = darkroom_faces_prepare() }

    /// Processor time for each pixel, whatever the content, measured with noise.
    static let nanosecondsPerPixel = 170.0
    /// Peak memory for each pixel.
    static let bytesPerPixel = 16

    /// The faces of an image, the most certain first.
    static func faces(in image: VipsImage, interrupt: @escaping Interrupt) throws -> [Face] {
        let gray = try image.flattened(on: .white).applying("colourspace", ["space": "b-w"])
            .applying("cast", ["format": "uchar"]).band(0).rendered(interrupt: interrupt)
        var found = [darkroom_face](repeating: darkroom_face(), count: capacity)
        let count = try gray.withSamples { samples throws(VipsError) in
            darkroom_faces_find(
                samples.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(gray.width), Int32(gray.height), &found,
                Int32(capacity))
        }
        guard (0..<Int32(capacity)).contains(count) else {
            throw ImageProcessingError.transformFailed("the detector of faces failed")
        }
        return found.prefix(Int(count)).map { Face($0, width: Double(gray.width), height: Double(gray.height)) }
    }
}

extension Face {
    fileprivate init(_ face: darkroom_face, width: Double, height: Double) {
        let share = { (place: Int32, side: Double) in min(max(Double(place) / side, 0), 1) }
        self.init(
            left: share(face.left, width), top: share(face.top, height), right: share(face.left + face.width, width),
            bottom: share(face.top + face.height, height), confidence: face.confidence)
    }
}
