/// One entry of ``Recipe/steps``: an effect that runs at its place in the list, as often as it is listed.
public enum EffectStep: Hashable, Codable, Sendable {
    /// The accepted number of entries of a list.
    public static let maxCount = 64

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
    /// Draws ``Recipe/text`` here instead of at its usual place.
    case text
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
            case .trim(var trim):
                trim.isImagors = rules == .thumbor
                return trim
            case .text:
                var text = text
                text?.isOptional = rules == .thumbor
                return text
            default: return step.plainTransform
            }
        }
    }

    /// The mark, unless a step draws it.
    var markAtLast: Mark? { steps.contains(.mark) ? nil : mark }
    /// The text, unless a step draws it.
    var textAtLast: Text? { steps.contains(.text) ? nil : text }
}

extension EffectStep {
    /// The transform of a step that depends on no other.
    fileprivate var plainTransform: (any Transform)? {
        switch self {
        case .blur(let blur): blur
        case .sharpen(let sharpen): sharpen
        case .brightness(let brightness): brightness
        case .lightness(let lightness): lightness
        case .contrast(let contrast): contrast
        case .saturation(let saturation): saturation
        case .hue(let hue): hue
        case .gamma(let gamma): gamma
        case .linear(let tones): tones
        case .filter(let filter): filter
        case .pixelate(let pixelate): pixelate
        case .flip: Flip()
        case .flop: Flop()
        case .excerpt(let crop): Excerpt(crop: crop)
        case .scale(let scale): scale
        case .round(let corners): corners
        case .flatten(let color): FlattenStep(color: color)
        case .rotate, .canvas, .pad, .trim, .mark, .text: nil
        }
    }
}
