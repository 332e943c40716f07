import NIOCore

/// The time that a client may still take for the response bytes that wait for it.
///
/// The time in which bytes wait uses the allowance up. Each byte that the client takes, and the time in which none
/// waits, fills it again up to the limit. A client that takes nothing is thus out of time after the limit, and a client
/// below the rate is too, some time later, however long its response is. The rate is an average, because a slow client
/// makes room in its buffers only now and then.
struct ReadAllowance {
    private let limit: TimeAmount
    private let bytesPerSecond: Int
    private var left: TimeAmount
    private var updatedAt: NIODeadline
    private var isWaiting = false

    init(limit: TimeAmount, bytesPerSecond: Int, at now: NIODeadline) {
        self.limit = limit
        self.bytesPerSecond = bytesPerSecond
        left = limit
        updatedAt = now
    }

    /// When the client is out of time if it takes no further byte.
    var deadline: NIODeadline { updatedAt + left }

    /// Counts the time since the last update, and the bytes that the client has taken since.
    mutating func update(taken bytes: Int, isWaiting: Bool, at now: NIODeadline) {
        let elapsed = now - updatedAt
        let earned = TimeAmount.nanoseconds(1_000_000_000 / Int64(bytesPerSecond)) * bytes
        left = min(limit, (self.isWaiting ? left - elapsed : left + elapsed) + earned)
        (updatedAt, self.isWaiting) = (now, isWaiting)
    }
}
