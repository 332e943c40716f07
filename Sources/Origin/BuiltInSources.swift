package import DarkroomNetwork
import Foundation
import HTTPTypes
import NIOCore

/// Makes the pixel of a `color:` URL. Nothing is read or fetched.
struct ColorSources: OriginFetching {
    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard let channels = request.url.colorChannels else {
            throw .invalidURL(.unsupportedScheme(request.url.scheme.rawValue))
        }
        let now = Date()
        return OriginResponse(
            url: request.url, status: .ok, headers: [.cacheControl: "max-age=31536000"],
            body: ByteBuffer(string: Self.drawing(channels)), requestedAt: now, receivedAt: now)
    }

    /// The pixel as a drawing, which covers more than the pixel so that no edge of a canvas is blended.
    private static func drawing(_ channels: [UInt8]) -> String {
        let (red, green, blue) = (channels[0], channels[1], channels[2])
        let opacity = Double(channels[3]) / 255
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="1" height="1">\
            <path d="M-1-1H2V2H-1z" fill="rgb(\(red),\(green),\(blue))" fill-opacity="\(opacity)"/></svg>
            """
    }
}

/// Serves `local:///path` from files within the executable, where ``LocalFiles`` have none at that path.
package struct EmbeddedFiles: OriginFetching {
    private let files: [String: ByteBuffer]
    private let folder: LocalFiles

    /// - Parameters:
    ///   - files: the bytes of each file by its URL's path, such as `/samples/cat.jpg`.
    ///   - folder: the files that take precedence, and answer every other URL.
    package init(_ files: [String: [UInt8]], behind folder: LocalFiles) {
        self.files = files.mapValues { ByteBuffer(bytes: $0) }
        self.folder = folder
    }

    package func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        do throws(OriginError) {
            return try await folder.fetch(request)
        } catch {
            guard [.localNotFound, .notAllowed(.local)].contains(error), let file = files[request.url.path] else {
                throw error
            }
            let now = Date()
            return OriginResponse(
                url: request.url, status: .ok, headers: [:], body: file, requestedAt: now, receivedAt: now)
        }
    }

    package func refusal(of source: SourceURL) -> OriginError? {
        files[source.path] == nil ? folder.refusal(of: source) : nil
    }
}
