import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

struct RequestKeysTests {
    private func keys(_ request: ImageRequest, epoch: String = "e") -> RequestKeys {
        RequestKeys(
            request, chain: TransformChain(request.recipe),
            identity: CanonicalURLFilter().identity(of: request.source), epoch: epoch)
    }

    @Test func `Ten thousand random requests have equal keys if and only if they are equivalent`() throws {
        var random = SeededGenerator(seed: 42)
        var seen: [RequestKeys: Meaning] = [:]
        var meanings: [Meaning: RequestKeys] = [:]
        for _ in 0..<10_000 {
            let meaning = Meaning.random(using: &random)
            let keys = keys(try meaning.request())
            if let other = seen[keys] { #expect(other == meaning) }
            if let other = meanings[meaning] { #expect(other.variant == keys.variant) }
            seen[keys] = meaning
            meanings[meaning] = keys
        }
        #expect(meanings.count > 5000)
    }

    @Test func `An upgrade of the encoders changes every variant key and no original key`() throws {
        let request = try ImageRequest(url: "http://example.com/a.jpg")
        let (before, after) = (keys(request, epoch: "1"), keys(request, epoch: "2"))
        #expect(before.variant != after.variant)
        #expect(before.original == after.original)
    }

    @Test func `Original and variants of one source share its key and are different entries`() throws {
        let keys = keys(try ImageRequest(url: "http://example.com/a.jpg"))
        #expect(keys.original.source == keys.variant.source)
        #expect(keys.original.entry != keys.variant.entry)
    }

    @Test func `The number of frames is not part of the key if the output holds only one`() throws {
        let many = try ImageRequest(
            url: "http://a.com/", pages: PageSelection(count: 5), output: OutputOptions(format: .png))
        let all = try ImageRequest(url: "http://a.com/", output: OutputOptions(format: .png))
        #expect(keys(many) == keys(all))
        let animated = try ImageRequest(
            url: "http://a.com/", pages: PageSelection(count: 5), output: OutputOptions(format: .webp))
        #expect(keys(animated) != keys(many))
    }

    @Test func `Each page is an entry of its own, as are the largest and the smallest`() throws {
        let variants = try [1, 2, PageSelection.largest, PageSelection.smallest].map { page in
            keys(try ImageRequest(url: "http://a.com/", pages: PageSelection(first: page)))
        }
        #expect(Set(variants).count == 4 && Set(variants.map(\.original)).count == 1)
    }

    @Test func `Chains whose members concatenate to the same text have different keys`() {
        struct Named: Transform {
            var key: String
            func apply(_ picture: ImageFrames, context: TransformContext) -> ImageFrames { picture }
        }
        let one = TransformChain([Named(key: "a,1:b")])
        let two = TransformChain([Named(key: "a"), Named(key: "b")])
        #expect(one.key != two.key)
    }
}

/// The meaning of a request: only what matters for the image.
private struct Meaning: Hashable {
    var path: Int
    var width: Int?
    var height: Int?
    var fit: Fit
    var enlarge: Bool
    var resampling: Resampling
    var quality: Int?
    var format: OutputFormat?
    var rotation: Int
    var flip: Bool
    var background: UInt8?
    var crop: Crop?

    static func random(using random: inout SeededGenerator) -> Meaning {
        var meaning = Meaning(
            path: .random(in: 0..<4, using: &random),
            width: Bool.random(using: &random) ? .random(in: 1...30, using: &random) : nil,
            height: Bool.random(using: &random) ? .random(in: 1...30, using: &random) : nil,
            fit: Fit.allCases.randomElement(using: &random) ?? .inside, enlarge: .random(using: &random),
            resampling: Resampling.allCases.randomElement(using: &random) ?? .fast,
            quality: Bool.random(using: &random) ? .random(in: 1...100, using: &random) : nil,
            format: Bool.random(using: &random) ? OutputFormat.allCases.randomElement(using: &random) : nil,
            rotation: [0, 0, 90, 45].randomElement(using: &random) ?? 0, flip: .random(using: &random),
            background: Bool.random(using: &random) ? .random(in: 0...255, using: &random) : nil,
            crop: Bool.random(using: &random)
                ? Crop(x: .random(in: 0...2, using: &random), y: 0, width: 5, height: 5) : nil)
        meaning.forgetWhatDoesNothing()
        return meaning
    }

    /// Without both sides of a box, all fits are equivalent; without a box, so are all profiles.
    private mutating func forgetWhatDoesNothing() {
        if width == nil || height == nil { fit = .inside }
        if width == nil, height == nil {
            enlarge = false
            resampling = .fast
        }
        if let format, !format.isLossy || quality == format.defaultQuality { quality = nil }
    }

    func request() throws -> ImageRequest {
        var recipe = Recipe(resampling: resampling)
        recipe.box = Box(width: width, height: height)
        recipe.fit = fit
        recipe.enlarge = enlarge
        recipe.rotationDegrees = Double(rotation)
        recipe.flip = flip
        recipe.crop = crop
        recipe.background = background.map { Color(red: $0, green: 0, blue: 0) }
        return try ImageRequest(
            url: "http://example.com/\(path).jpg", recipe: recipe,
            output: OutputOptions(format: format, quality: quality))
    }
}

/// SplitMix64: the same numbers on every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
