import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// Why a server did not answer.
enum ConnectionFailure {
    /// The reason as the end of a sentence, with its period.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason($0.error) } ?? "the host name cannot be resolved."
        case let error as IOError: "\(String(cString: strerror(error.errnoCode)))."
        case let error as HTTPClientError where [.deadlineExceeded, .connectTimeout, .readTimeout].contains(error):
            "no response in time."
        case let error as HTTPClientError where error == .remoteConnectionClosed: "the connection was closed."
        default: "\(error)."
        }
    }
}
