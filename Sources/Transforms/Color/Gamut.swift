import DarkroomRequests
import DarkroomVips

extension Gamut {
    /// Whether an image with these samples becomes Display P3. Gray never does: both spaces have the same gray.
    func makesP3(of image: VipsImage) -> Bool {
        switch self {
        case .sRGB: false
        case .p3: !image.isGray
        case .source: !image.isGray && image.exceedsSRGB
        }
    }
}

extension Recipe {
    /// Whether the steps mean the same in Display P3 as in sRGB, which has the same curve: they move or mix pixels, and
    /// fill with gray only. Other colors of a request are sRGB, and effects are defined in sRGB.
    func suitsP3(_ transforms: [any Transform]) -> Bool {
        let fills = [background, canvasBackground, cornerBackground].compactMap(\.self)
        return steps.isEmpty && fills.allSatisfy(\.isGray)
            && transforms.allSatisfy { PixelChange($0) < .drawn || $0 is AILabel }
    }
}

extension Color {
    fileprivate var isGray: Bool { red == green && green == blue }
}

extension VipsImage {
    fileprivate var isGray: Bool { bands - (hasAlpha ? 1 : 0) < 3 }

    /// Whether the samples are red, green and blue of primaries outside of sRGB.
    fileprivate var exceedsSRGB: Bool {
        if let space = statedSpace { return space.exceedsSRGB }
        return needsProfile && profile?.primaries?.exceedSRGB ?? false
    }

    private var profile: ICCProfile? { blob("icc-profile-data").map(ICCProfile.init) }

    /// The image as Display P3, and alpha if it had any.
    ///
    /// - Parameter isDeep: whether samples of 16 bits keep them; otherwise they become 8-bit samples.
    func convertedToP3(isDeep: Bool = false, interrupt: Interrupt? = nil) throws(VipsError) -> VipsImage {
        let isKept = isDeep ? interpretation == "rgb16" && isShort : interpretation == "srgb" && isByte
        let isPlain = isKept && (bands == 3 || bands == 4)
        if let space = statedSpace {
            return isPlain && space.isDisplayP3
                ? self : try converted(from: space, to: .p3, isDeep: isDeep, interrupt: interrupt)
        }
        if needsProfile {
            if isPlain, profile?.isDisplayP3 == true { return self }
            if let converted = try? convertedByProfile(to: "p3", isDeep: isDeep) { return converted }
        }
        return try convertedToSRGB(isDeep: isDeep, interrupt: interrupt)
            .converted(from: .sRGB, to: .p3, isDeep: isDeep, interrupt: interrupt)
    }
}
