import DarkroomNetwork
import DarkroomRequests

/// A named image while its parameters are read or written. Lengths are before `dpr`.
struct MarkPartDraft: Sendable {
    /// What happens if an image to draw fails.
    enum Failure: String, CaseIterable, Sendable {
        /// The request fails.
        case fail
        /// The result is made without the image.
        case omit
    }

    /// A URL or the name of one of the server's marks; nil = not given.
    var source: String?
    var fallback: String?
    var failure = Failure.fail
    /// Pixels, or a part of the result.
    var width: Length?
    var height: Length?
    var placing = LayerPlacing()
    /// How the image is made, except for its box.
    var image: ImageQueryDraft

    init(_ limits: QueryLimits) {
        image = ImageQueryDraft(limits)
        // It needs no `url` of its own.
        image.query.isUpload = true
    }

    /// The parameters of an image that apply to a named one: they change its pixels, and draw no other image.
    private static let shared: Set = [
        "fit", "a", "fpx", "fpy", "focus", "resample", "inset", "crop", "trim", "tbg", "tcorner", "orient", "ro", "rbg",
        "flip", "flop", "cut", "bg", "cbg", "bri", "mod", "con", "sat", "hue", "gam", "tint", "filt", "duotone", "blur",
        "sharp", "sharpf", "sharpj", "pixelate", "border", "radius", "mask", "mbg", "mtrim", "pad",
    ]

    /// The parameters after `mark.NAME.`.
    static func table(_ limits: QueryLimits) -> ParameterTable<MarkPartDraft> {
        typealias Row = Parameter<MarkPartDraft>
        let side = ValueFormat.length(1...limits.maxOutputSide, percent: 0.01...100)
        let own: [Row] = [
            Row(
                "default", .markSource, \.fallback, .watermarks, .fetch, cost: .high,
                "Another image in place of one that fails, as a URL or as the name of one of the server's `marks`."),
            Row(
                "onerror", .choice(Failure.self), \.failure, .watermarks, .fetch,
                "Whether the request fails with the image, or the result is made without it (`omit`)."),
            Row(
                "w", side, \.width, .watermarks, .transform("Layer"), cost: .medium,
                "Width in CSS pixels, or in percent of the result's width; without a width and a height, the image "
                    + "keeps its size, or is scaled down to the result."),
            Row(
                "h", side, \.height, .watermarks, .transform("Layer"), cost: .medium,
                "Height in CSS pixels, or in percent of the result's height."),
        ]
        let changes = ImageParameters.rows(limits).filter { shared.contains($0.name) }
        return ParameterTable(
            own + LayerPlacing.rows(limits).map { Parameter($0, in: \MarkPartDraft.placing) }
                + changes.map { Parameter($0, in: \MarkPartDraft.image) }, initial: MarkPartDraft(limits))
    }

    /// The parameters that apply to an image that a step draws.
    private static let sourceParameters: Set = ["default", "onerror"]

    /// The first parameter that says how the image is drawn; nil = none does.
    func firstChange(_ limits: QueryLimits) -> String? {
        Self.table(limits).write(self).pairs.first { !Self.sourceParameters.contains($0.name) }?.name
    }

    /// The image as a layer. Its lengths are in device pixels.
    func layer(
        _ name: String, _ ratio: Hundredths, _ limits: QueryLimits
    ) throws(InvalidParameter) -> Layer {
        var image = image
        image.pixelRatio = ratio
        (image.width, image.height) = (width, height)
        image.query.recipe.enlarge = true
        var recipe: Recipe
        do throws(InvalidParameter) {
            recipe = try image.finished(limits).recipe
        } catch {
            guard let parameter = error.parameter, Self.shared.contains(parameter) else { throw error }
            throw InvalidParameter("mark.\(name).\(parameter)", "For 'mark.\(name)': \(error.detail)")
        }
        // Parts of the result do not depend on `dpr`.
        recipe.box.horizontal = width.map { ratio.times($0, atMost: limits.maxOutputSide) }
        recipe.box.vertical = height.map { ratio.times($0, atMost: limits.maxOutputSide) }
        (recipe.gamut, recipe.depth) = (.sRGB, .eight)
        return placing.layer(name, .picture(Picture(recipe)), ratio, limits)
    }

    mutating func write(_ layer: Layer, _ limits: QueryLimits) {
        placing = LayerPlacing(writing: layer)
        guard case .picture(let picture) = layer.content else { return }
        (width, height) = (picture.recipe.box.horizontal, picture.recipe.box.vertical)
        image = ImageQueryDraft(writing: ImageQuery(isUpload: true, recipe: picture.recipe), limits)
    }
}
