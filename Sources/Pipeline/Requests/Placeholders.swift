import Foundation
import NIOCore

/// Small images and colors to show until an image has loaded. A property is nil if the request did not ask for it.
public struct Placeholders: Hashable, Sendable {
    /// The BlurHash of 4 by 3 components: 28 characters.
    public var blurHash: String?
    /// The ThumbHash in base64.
    public var thumbHash: String?
    /// The dominant color as `#rrggbb`.
    public var dominantColor: String?
    /// The low-quality image placeholder: the image at 16 pixels as a `data:` URI.
    public var lqip: String?

    /// Creates placeholders.
    public init(
        blurHash: String? = nil, thumbHash: String? = nil, dominantColor: String? = nil, lqip: String? = nil
    ) {
        self.blurHash = blurHash
        self.thumbHash = thumbHash
        self.dominantColor = dominantColor
        self.lqip = lqip
    }
}

extension Placeholders: Decodable {
    private enum CodingKeys: String, CodingKey {
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
        case dominantColor = "dominant_color"
        case lqip
    }

    /// Decodes a JSON document as `output=json` encodes it; nil if the buffer holds anything else.
    init?(json document: ByteBuffer) {
        guard let decoded = try? JSONDecoder().decode(Self.self, from: Data(document.readableBytesView)) else {
            return nil
        }
        self = decoded
    }
}
