extension Comparable {
    /// The value, or the bound of the range that is nearest to it.
    func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
