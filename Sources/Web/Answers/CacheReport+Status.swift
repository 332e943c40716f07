import HTTPCaching
import Pipeline

extension CacheReport {
    /// What `Cache-Status` says: on a hit the layer, on a miss where the original was.
    var status: CacheStatus {
        switch variant {
        case .memory?: CacheStatus(cache: "darkroom", .hit, detail: "memory")
        case .disk?: CacheStatus(cache: "darkroom", .hit, detail: "disk")
        case nil:
            CacheStatus(
                cache: "darkroom", .forwarded(.miss), isStored: true, isCollapsed: isShared, detail: originalDetail)
        }
    }

    private var originalDetail: CacheStatus.Name {
        switch original {
        case .memory?: "original-memory"
        case .disk?: "original-disk"
        case nil: "original-miss"
        }
    }
}
