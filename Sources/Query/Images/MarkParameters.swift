import DarkroomRequests

extension ImageQueryDraft {
    /// The mark with its lengths in device pixels; nil if there is none.
    func finishedMark(_ limits: QueryLimits) throws(InvalidParameter) -> Mark? {
        guard query.mark != nil else {
            try require(mark == Mark(), "mark", "Parameters 'markw' to 'markblend' require 'mark'.")
            return nil
        }
        try require(
            mark.anchor != nil || !mark.x.isNegative && !mark.y.isNegative, mark.x.isNegative ? "markx" : "marky",
            "Parameters 'markx' and 'marky' are gaps with marka=tile and must be at least 0.")
        var mark = mark
        let scaled = { (length: Length) in pixelRatio.times(length, atMost: limits.maxOutputSide) }
        (mark.width, mark.height) = (mark.width.map(scaled), mark.height.map(scaled))
        (mark.x, mark.y) = (scaled(mark.x), scaled(mark.y))
        return mark
    }
}
