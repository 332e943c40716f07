import DarkroomTransforms

extension Length: WireValue {
    static let blank = Length.pixels(1)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var (isRelative, count) =
            switch self {
            case .pixels(let count): (false, count)
            case .percent(let part): (true, part.hundredths)
            }
        try coder.code(&isRelative)
        try coder.code(&count)
        self = isRelative ? .percent(Percentage(hundredths: count)) : .pixels(count)
    }
}

extension AspectRatio: WireValue {
    static let blank = AspectRatio(width: 1, height: 1)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var (width, height) = (width, height)
        try coder.code(&width)
        try coder.code(&height)
        self = AspectRatio(width: width, height: height)
    }
}

extension Box: WireValue {
    static let blank = Box(width: nil, height: nil)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&horizontal)
        try coder.code(&vertical)
        try coder.code(&ratio)
        try coder.code(&minWidth)
        try coder.code(&minHeight)
    }
}

extension Crop: WireValue {
    static let blank = Crop(x: 0, y: 0, width: 1, height: 1)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&x)
        try coder.code(&y)
        try coder.code(&width)
        try coder.code(&height)
    }
}

extension Cut: WireValue {
    static let blank = Cut(x: .blank, y: .blank, width: .blank, height: .blank)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&x)
        try coder.code(&y)
        try coder.code(&width)
        try coder.code(&height)
    }
}

extension Pixelate: WireValue {
    static let blank = Pixelate(block: .blank)

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(&block) }
}

extension Duotone: WireValue {
    static let blank = Duotone(shadow: .blank, highlight: .white)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&shadow)
        try coder.code(&highlight)
    }
}
