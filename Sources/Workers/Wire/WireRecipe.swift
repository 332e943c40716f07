import DarkroomTransforms

extension Recipe: WireValue {
    static let blank = Recipe()

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&orientation)
        try coder.code(&crop)
        try coder.code(&trim)
        try coder.code(&box)
        try coder.code(choice: &fit)
        try coder.code(&enlarge)
        try coder.code(&position)
        try coder.code(choice: &resampling)
        try coder.code(&scaleDown)
        try coder.code(&rotationDegrees)
        try coder.code(&flip)
        try coder.code(&flop)
        try coder.code(&background)
        try coder.code(&cut)
        try coder.code(&canvasBackground)
        try coder.code(&cornerBackground)
        try coder.code(choice: &rules)
        try codeColors(&coder)
        try codeComposition(&coder)
    }

    private mutating func codeColors(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&blur)
        try coder.code(&sharpen)
        try coder.code(&brightness)
        try coder.code(&lightness)
        try coder.code(&contrast)
        try coder.code(&saturation)
        try coder.code(&hue)
        try coder.code(&gamma)
        try coder.code(&tint)
        try coder.code(choice: &filter)
        try coder.code(&duotone)
        try coder.code(&pixelate)
    }

    private mutating func codeComposition(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&blursBackdrop)
        try coder.code(&text)
        try coder.code(&border)
        try coder.code(&radius)
        try coder.code(choice: &mask)
        try coder.code(&maskBackground)
        try coder.code(&trimsMask)
        try coder.code(&padding)
        try coder.code(&mark)
    }
}

extension Orient.Rule: WireValue {
    static let blank = Orient.Rule.auto

    /// 0 = the source's own, 1…8 = this one, 9 = none.
    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var number: UInt8 =
            switch self {
            case .auto: 0
            case .exif(let orientation): UInt8(clamping: orientation)
            case .none: 9
            }
        try coder.code(number: &number)
        switch number {
        case 0: self = .auto
        case 1...8: self = .exif(Int(number))
        case 9: self = .none
        default: throw .malformed
        }
    }
}

extension Position: WireValue {
    static let blank = Position.center

    private enum Kind: CaseIterable { case anchor, focal, entropy, attention }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var (kind, x, y) =
            switch self {
            case .anchor(let x, let y): (Kind.anchor, x, y)
            case .focal(let x, let y): (Kind.focal, x, y)
            case .entropy: (Kind.entropy, 0, 0)
            case .attention: (Kind.attention, 0, 0)
            }
        try coder.code(choice: &kind)
        try coder.code(&x)
        try coder.code(&y)
        switch kind {
        case .anchor: self = .anchor(x: x, y: y)
        case .focal: self = .focal(x: x, y: y)
        case .entropy: self = .entropy
        case .attention: self = .attention
        }
    }
}

extension Color: WireValue {
    static let blank = Color.transparent

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(number: &red)
        try coder.code(number: &green)
        try coder.code(number: &blue)
        try coder.code(number: &alpha)
    }
}

extension Tint: WireValue {
    static let blank = Tint(.white)

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&color) }
}

extension Trim: WireValue {
    static let blank = Trim(threshold: 1)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&threshold)
        try coder.code(&background)
        try coder.code(&keepsHeightOfAnimations)
    }
}

extension Blur: WireValue {
    static let blank = Blur()

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&sigma) }
}

extension Sharpen: WireValue {
    static let blank = Sharpen()

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&sigma)
        try coder.code(&flat)
        try coder.code(&jagged)
    }
}

extension Lightness: WireValue {
    static let blank = Lightness(factor: 1)

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&factor) }
}

extension Brightness: WireValue {
    static let blank = Brightness(percent: 0)

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&percent) }
}

extension Contrast: WireValue {
    static let blank = Contrast(percent: 0)

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&percent) }
}

extension Saturation: WireValue {
    static let blank = Saturation(factor: 1)

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&factor) }
}

extension Hue: WireValue {
    static let blank = Hue(degrees: 0)

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&degrees) }
}

extension Gamma: WireValue {
    static let blank = Gamma()

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&exponent) }
}

extension Mark: WireValue {
    static let blank = Mark()

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&width)
        try coder.code(&height)
        try coder.code(choice: &anchor)
        try coder.code(&x)
        try coder.code(&y)
        try coder.code(&opacity)
        try coder.code(choice: &blend)
        try coder.code(&content)
    }
}
