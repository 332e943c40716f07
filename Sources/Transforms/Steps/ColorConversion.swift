public import DarkroomRequests
import DarkroomVips
import NIOCore

/// Converts any source to sRGB or Display P3, of 8 bits unless ``depth`` says otherwise: ICC profiles, the code points
/// of PNG, AVIF and HEIC, gamma and chromaticities of PNG, HDR, CMYK, 16 bits, gray, Lab (libvips `icc_transform`,
/// `colourspace`, `maplut`, `recomb`).
public struct ColorConversion: Transform, Hashable {
    /// The color space of the result.
    public var gamut: Gamut
    /// The bits of a sample of the result.
    public var depth: SampleDepth

    /// Converts to 8-bit sRGB by default.
    public init(_ gamut: Gamut = .sRGB, _ depth: SampleDepth = .eight) {
        (self.gamut, self.depth) = (gamut, depth)
    }

    init(_ recipe: Recipe) { self.init(recipe.gamut, recipe.depth) }

    public var key: String {
        let details = (gamut == .sRGB ? [] : [gamut.rawValue]) + (depth == .eight ? [] : ["deep"])
        return details.isEmpty ? "srgb" : "srgb(\(details.joined(separator: ",")))"
    }

    /// What Display P3 takes in addition, if the source is sRGB.
    public var cost: TransformCost {
        gamut == .p3 ? TransformCost(nanosecondsPerPixel: 60, nanosecondsPerFrame: 0.1e6) : .none
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            let isDeep = depth == .source && frame.isShort
            let frame = isDeep ? try frame.inFullScale() : frame
            return try gamut.makesP3(of: frame)
                ? frame.convertedToP3(isDeep: isDeep, interrupt: context.interrupt)
                : frame.convertedToSRGB(isDeep: isDeep, interrupt: context.interrupt)
        }
    }
}

extension VipsImage {
    /// The image as sRGB, and alpha if it had any. The first extra channel of a TIFF counts as alpha.
    ///
    /// - Parameter isDeep: whether samples of 16 bits keep them; otherwise they become 8-bit samples.
    func convertedToSRGB(isDeep: Bool = false, interrupt: Interrupt? = nil) throws(VipsError) -> VipsImage {
        if let space = statedSpace {
            return try converted(from: space, to: .bt709, isDeep: isDeep, interrupt: interrupt)
        }
        // An image with an unusable profile is not refused: its samples are taken as sRGB, or as plain CMYK.
        if needsProfile, let converted = try? convertedByProfile(to: "srgb", isDeep: isDeep) { return converted }
        if isShort, ["rgb16", "grey16"].contains(interpretation), bands <= 4 {
            return try isDeep ? withThreeColors() : roundedFromShorts().convertedToSRGB()
        }
        if interpretation == "srgb", isByte, bands == 3 || bands == 4 { return self }
        if interpretation == "b-w", isByte, bands == 1 || bands == 2 && hasAlpha { return try tripled() }
        let converted = try applying("colourspace", ["space": "srgb"]).applying("cast", ["format": "uchar"])
        return converted.bands <= 4 ? converted : try converted.band(0, count: 4)
    }

    /// The cost of the conversion by a profile or a color code, beyond the cost of any image.
    var conversionCost: TransformCost {
        if let space = statedSpace { return costOfConverting(from: space) }
        if isWideLab { return TransformCost(nanosecondsPerPixel: 40) }
        guard needsProfile else { return .none }
        // For each frame, the profile is read, and for CMYK a table is computed.
        var cost =
            interpretation == "cmyk"
            ? TransformCost(nanosecondsPerPixel: 50, nanosecondsPerFrame: 20e6)
            : TransformCost(nanosecondsPerPixel: 12, nanosecondsPerFrame: 5e6)
        // A rendered frame has a copy of the profile, and its conversion another one.
        cost.keptBytesPerFrame = 2 * Double(blob("icc-profile-data")?.readableBytes ?? 0)
        return cost
    }

    /// Whether the samples are Lab of 16 bits or floating point, which no step but ``ColorConversion`` supports.
    /// libvips packs Lab of 8 bits into bytes.
    var isWideLab: Bool { !isByte && (interpretation == "lab" || interpretation == "labs") }

    var needsProfile: Bool {
        if interpretation == "cmyk" { return true }
        guard let profile = blob("icc-profile-data").map(ICCProfile.init) else { return false }
        return !profile.isSRGB && profile.suits(self)
    }

    /// Gray as red, green and blue: `colourspace` would compute the image once for each band.
    private func tripled() throws(VipsError) -> VipsImage {
        try splittingAlpha(color: { gray throws(VipsError) in
            try gray.applying("maplut", ["lut": .image(Self.grays)])
        }).applying("copy", ["interpretation": "srgb"])
    }

    /// - Parameter output: libvips' name of the color space: `srgb` or `p3`.
    func convertedByProfile(to output: String, isDeep: Bool) throws(VipsError) -> VipsImage {
        let colors = ["b-w": 1, "grey16": 1, "cmyk": 4][interpretation] ?? 3
        guard isShort, !isDeep, hasAlpha, bands == colors + 1 else {
            return try transformedByProfile(to: output, isDeep: isDeep)
        }
        // libvips takes alpha of 16 bits as alpha of 8: nearly every pixel would be opaque.
        return try splittingAlpha(
            color: { color throws(VipsError) in try color.transformedByProfile(to: output, isDeep: false) },
            alpha: { alpha throws(VipsError) in try alpha.bytes(times: 1 / 257) })
    }

    private func transformedByProfile(to output: String, isDeep: Bool) throws(VipsError) -> VipsImage {
        let isCMYK = interpretation == "cmyk"
        let hasOwn = blob("icc-profile-data").map(ICCProfile.init)?.suits(self) ?? false
        // libvips has a profile for inks, whose perceptual table differs between its versions.
        return try applying(
            "icc_transform",
            [
                "output_profile": .string(output), "embedded": true, "depth": isDeep ? 16 : 8,
                "intent": .string(isCMYK && !hasOwn ? "relative" : "perceptual"),
                "input_profile": .string(isCMYK ? "cmyk" : "srgb"),
            ])
    }
}
