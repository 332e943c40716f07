/// One entry of ``Recipe/steps``: an effect that runs at its place in the list, as often as it is listed.
public enum EffectStep: Hashable, Codable, Sendable {
    /// The accepted number of entries of a list.
    public static let maxCount = 64
    /// The most entries of one name, which compute the image anew each time.
    public static let maxRepetitions = 8
    /// The most texts, and the most marks: each takes only as long as its own pixels.
    public static let maxDrawings = 16

    case blur(Blur)
    case sharpen(Sharpen)
    case brightness(Brightness)
    case lightness(Lightness)
    case contrast(Contrast)
    case saturation(Saturation)
    case hue(Hue)
    case gamma(Gamma)
    case linear(LinearTones)
    case filter(Filter)
    case pixelate(Pixelate)
    /// A clockwise rotation by 90, 180 or 270 degrees.
    case rotate(degrees: Int)
    case flip
    case flop
    case excerpt(Crop)
    case trim(Trim)
    case scale(Scale)
    case round(RoundCorners)
    /// Extends the image to the box of the resize, and by a padding.
    case canvas(CanvasFill)
    /// Adds space around the image.
    case pad(CanvasFill)
    /// Puts a transparent image on a color.
    case flatten(FillColor)
    /// Draws ``Recipe/mark`` here instead of at its usual place.
    case mark
    /// Draws ``Recipe/mark``, or a named image, with a size, a place and an opacity of its own.
    case drawing(Mark)
    /// Draws ``Recipe/text`` here instead of at its usual place.
    case text
    /// Draws a text of its own.
    case caption(Caption)

    package var drawsMark: Bool { drawnImage != nil }

    package var drawsUnnamedMark: Bool { drawnImage?.isEmpty == true }

    /// The name of the image that it draws, see ``Mark/image``; nil = none.
    package var drawnImage: String? {
        switch self {
        case .mark: ""
        case .drawing(let mark): mark.image
        default: nil
        }
    }
}
