import Dispatch
import Foundation

/// Reads the files with tokens and secrets, once for each request, so that a new token takes effect at once.
struct EdgeSecrets: Sendable {
    private static let maxBytes = 8 << 10

    /// Runs blocking calls.
    private let thread = DispatchQueue(label: "darkroom.edge-secrets")

    /// The text of a destination's file, without white space at both ends; empty without a file.
    func secret(of destination: EdgeDestination) async throws(EdgeTransportFailure) -> String {
        guard let path = destination.secretFile else { return "" }
        let text = await withCheckedContinuation { continuation in
            thread.async { continuation.resume(returning: Self.text(ofFile: path)) }
        }
        guard let text else { throw EdgeTransportFailure(reason: "the file with its token cannot be read") }
        guard destination.flaw(ofSecret: text) == nil else {
            throw EdgeTransportFailure(reason: "the file with its token has no token")
        }
        return text
    }

    private static func text(ofFile path: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: maxBytes) else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
