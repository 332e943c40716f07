package import DarkroomNetwork
import Foundation
import HTTPTypes
import NIOCore

/// Makes the drawing of a `color:` URL. Nothing is read or fetched.
struct ColorSources: OriginFetching {
    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard let gradient = request.url.gradient else {
            throw .invalidURL(.unsupportedScheme(request.url.scheme.rawValue))
        }
        let now = Date()
        return OriginResponse(
            url: request.url, status: .ok, headers: [.cacheControl: "max-age=31536000"],
            body: ByteBuffer(string: Self.drawing(gradient)), requestedAt: now, receivedAt: now)
    }

    /// A vector image, which is drawn at the size of its canvas. It covers more than its area so that no edge of a
    /// canvas is blended.
    private static func drawing(_ gradient: ColorGradient) -> String {
        let (width, height) = (gradient.width, gradient.height)
        let isFlat = gradient.start == gradient.end
        let fill = isFlat ? paint("fill", gradient.start) : "fill=\"url(#g)\""
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)">\
            \(isFlat ? "" : definition(gradient))\
            <path d="M-1-1H\(width + 1)V\(height + 1)H-1z" \(fill)/></svg>
            """
    }

    /// The line through the middle that is as long as CSS makes it: both ends are level with a corner.
    private static func definition(_ gradient: ColorGradient) -> String {
        let radians = Double(gradient.angle) * .pi / 180
        let (width, height) = (Double(gradient.width), Double(gradient.height))
        let (across, down) = (sin(radians), -cos(radians))
        let half = (abs(across) * width + abs(down) * height) / 2
        // Adding 0 makes -0 positive.
        func place(_ middle: Double, _ part: Double) -> String { "\(((middle + part) * 1e6).rounded() / 1e6 + 0)" }
        let ends = [-half, half].map { (place(width / 2, $0 * across), place(height / 2, $0 * down)) }
        let line = "x1=\"\(ends[0].0)\" y1=\"\(ends[0].1)\" x2=\"\(ends[1].0)\" y2=\"\(ends[1].1)\""
        return """
            <defs><linearGradient id="g" gradientUnits="userSpaceOnUse" \(line)>\
            <stop offset="0" \(paint("stop", gradient.start))/><stop offset="1" \(paint("stop", gradient.end))/>\
            </linearGradient></defs>
            """
    }

    /// The attributes of a color: `fill` and `fill-opacity`, or `stop-color` and `stop-opacity`.
    private static func paint(_ kind: String, _ channels: [UInt8]) -> String {
        let (red, green, blue) = (channels[0], channels[1], channels[2])
        let name = kind == "fill" ? kind : "\(kind)-color"
        return "\(name)=\"rgb(\(red),\(green),\(blue))\" \(kind)-opacity=\"\(Double(channels[3]) / 255)\""
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
