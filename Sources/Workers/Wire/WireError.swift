import Foundation

/// Why a message did not get through.
enum WireError: Error, Equatable {
    /// The other side is gone.
    case closed
    /// It is none that we understand, or not what it has to be.
    case malformed
    /// The system refused.
    case system(Int32)

    /// What a function of CSandbox gave, where it is no failure.
    static func checked<Number: BinaryInteger>(_ result: Number) throws(WireError) -> Number {
        guard result < 0 else { return result }
        switch Int32(-Int(result)) {
        case EPIPE, ECONNRESET: throw .closed
        case EBADMSG: throw .malformed
        case let number: throw .system(number)
        }
    }
}
