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
    /// Draws ``Recipe/mark`` with a size, a place and an opacity of its own.
    case drawing(Mark)
    /// Draws ``Recipe/text`` here instead of at its usual place.
    case text
    /// Draws a text of its own.
    case caption(Caption)
}

extension Recipe {
    /// The transforms of ``steps``, in their order.
    var listedSteps: [(any Transform)?] {
        var isOnItsSide = false
        return steps.map { step in
            switch step {
            case .rotate(let degrees):
                if degrees % 180 != 0 { isOnItsSide.toggle() }
                return Rotate(degrees: Double(degrees))
            case .canvas(var fill):
                fill.extent = isOnItsSide ? .turnedBox : .box
                return fill
            case .pad(let fill): return fill
            case .mark: return mark
            case .drawing(var drawing):
                drawing.content = mark?.content ?? ""
                return drawing
            case .trim(let trim): return trim
            case .blur(let blur): return blur
            case .sharpen(let sharpen): return sharpen
            case .pixelate(let pixelate): return pixelate
            case .text: return text
            case .brightness(let brightness): return brightness
            case .lightness(let lightness): return lightness
            case .contrast(let contrast): return contrast
            case .saturation(let saturation): return saturation
            case .hue(let hue): return hue
            case .gamma(let gamma): return gamma
            case .linear(let tones): return tones
            case .filter(let filter): return filter
            case .flip: return Flip()
            case .flop: return Flop()
            case .excerpt(let crop): return crop.with(.excerpt)
            case .scale(let scale): return scale
            case .round(let corners): return corners
            case .caption(let caption): return caption
            case .flatten(let color): return FlattenStep(color: color)
            }
        }
    }

    /// The mark, unless a step draws it.
    var markAtLast: Mark? { steps.contains(where: \.drawsMark) ? nil : mark }
    /// The text, unless a step draws it.
    var textAtLast: Text? { steps.contains(.text) ? nil : text }
}

extension EffectStep {
    /// Whether it draws ``Recipe/mark``.
    package var drawsMark: Bool {
        switch self {
        case .mark, .drawing: true
        default: false
        }
    }
}
