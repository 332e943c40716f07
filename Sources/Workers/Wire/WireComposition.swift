import DarkroomTransforms

extension Text: WireValue {
    static let blank = Text("")

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(text: &text)
        try coder.code(&size)
        try coder.code(&color)
        try coder.code(&position)
    }
}

extension BorderStyle: WireValue {
    static let blank = BorderStyle(width: 1, color: .white)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&width)
        try coder.code(&color)
    }
}

extension Padding: WireValue {
    static let blank = Padding(0)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&top)
        try coder.code(&right)
        try coder.code(&bottom)
        try coder.code(&left)
    }
}

extension CornerRadii: WireValue {
    static let blank = CornerRadii(.pixels(0))

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&topLeft)
        try coder.code(&topRight)
        try coder.code(&bottomRight)
        try coder.code(&bottomLeft)
    }
}
