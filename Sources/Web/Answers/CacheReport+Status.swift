import DarkroomHTTPCaching
import DarkroomPipeline

extension CacheReport {
    /// What `Cache-Status` says: on a hit the layer; otherwise why the origin was asked, or that a variant had to be
    /// made, and where the variant or else the original was.
    ///
    /// - Parameter remaining: how long the picture stays fresh; negative = for how long it has been stale.
    func status(remaining: Duration) -> CacheStatus {
        let isHit = variant != nil && forwarded == nil
        return CacheStatus(
            cache: "darkroom", isHit ? .hit : .forwarded(forwarded ?? .miss), forwardStatus: originStatus,
            ttl: remaining.wholeSeconds, isStored: isStored, isCollapsed: isShared, detail: detail)
    }

    private var detail: CacheStatus.Name {
        switch (variant, original) {
        case (.memory?, _): "memory"
        case (.disk?, _): "disk"
        case (nil, .memory?): "original-memory"
        case (nil, .disk?): "original-disk"
        case (nil, nil): "original-miss"
        }
    }
}

extension Duration {
    /// Rounded down, so that what has just become stale is below zero.
    var wholeSeconds: Int {
        let (seconds, attoseconds) = components
        return Int(attoseconds < 0 ? seconds - 1 : seconds)
    }
}
