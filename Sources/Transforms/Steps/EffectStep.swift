import DarkroomRequests

extension Recipe {
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
                if drawing.image.isEmpty { drawing.content = mark?.content ?? "" }
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
    var markAtLast: Mark? { steps.contains(where: \.drawsUnnamedMark) ? nil : mark }
    /// The text, unless a step draws it.
    var textAtLast: Text? { steps.contains(.text) ? nil : text }
}
