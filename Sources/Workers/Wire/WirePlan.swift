import DarkroomTransforms

extension ImagePlan: WireValue {
    /// Maximum number of steps; no recipe has as many.
    static let maxSteps = 64

    static let blank = ImagePlan(
        sourceFormat: .jpeg, sourceSize: .blank, sourceFrames: 0, sourceBytes: 0, framesUsed: 0, shrinkOnLoad: 1,
        steps: [], format: .jpeg, size: .blank, frames: 0, isExact: false, largest: .blank, estimatedMemoryBytes: 0)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(choice: &sourceFormat)
        try coder.code(&sourceSize)
        try coder.code(&sourceFrames)
        try coder.code(&sourceBytes)
        try coder.code(&framesUsed)
        try coder.code(&shrinkOnLoad)
        try coder.code(&steps, maxCount: Self.maxSteps)
        try coder.code(choice: &format)
        try coder.code(&size)
        try coder.code(&frames)
        try coder.code(&isExact)
        try coder.code(&largest)
        try coder.code(&estimatedMemoryBytes)
        try coder.code(&expectedWork)
    }

    /// Whether the values are possible, and arithmetic on them cannot overflow an `Int`.
    var isPlausible: Bool {
        let sizes = [sourceSize, size, largest] + steps.map(\.size)
        let numbers = [sourceFrames, sourceBytes, framesUsed, frames, estimatedMemoryBytes]
        return steps.count <= Self.maxSteps && steps.allSatisfy { $0.name.utf8.count <= 64 } && shrinkOnLoad.isFinite
            && (0...1e18).contains(expectedWork)
            && sizes.allSatisfy { (0...1_000_000_000).contains($0.width) && (0...1_000_000_000).contains($0.height) }
            && numbers.allSatisfy((0...1 << 60).contains)
    }
}

extension ImagePlan.Step: WireValue {
    static let blank = ImagePlan.Step(name: "", size: .blank)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&name)
        try coder.code(&size)
    }
}

extension PixelSize: WireValue {
    static let blank = PixelSize(width: 0, height: 0)

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&width)
        try coder.code(&height)
    }
}
