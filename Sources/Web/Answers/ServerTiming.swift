import DarkroomPipeline

extension Timings {
    /// The value of a `Server-Timing` field: `fetch;dur=12.345, total;dur=20.001`, in milliseconds. Parts that were not
    /// needed are left out.
    var serverTiming: String {
        var text = ""
        let parts = [("fetch", fetch), ("queue", queue), ("process", process), ("store", store)]
        for case (let name, let duration?) in parts { text += "\(name);dur=\(duration.milliseconds), " }
        return text + "total;dur=\(total.milliseconds)"
    }
}

extension Duration {
    /// In milliseconds with three decimals. Microseconds are enough, and whole numbers are printed fastest.
    var milliseconds: String {
        let (seconds, attoseconds) = components
        let microseconds = max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        let fraction = String(microseconds % 1_000)
        return "\(microseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    }
}
