import Foundation
import NIOCore

/// What may stand in for a picture until it is there. Nil = it was not wanted.
public struct Placeholders: Hashable, Sendable {
    /// 28 characters: 4 by 3 components.
    public var blurHash: String?
    /// In base64.
    public var thumbHash: String?
    /// The colour that most of the picture has, as `#rrggbb`.
    public var dominantColor: String?
    /// The picture at 16 pixels, as a `data:` URI.
    public var lqip: String?

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

    /// - Parameter document: one that `output=json` gives; nil for anything else.
    init?(toldBy document: ByteBuffer) {
        guard let told = try? JSONDecoder().decode(Self.self, from: Data(document.readableBytesView)) else {
            return nil
        }
        self = told
    }
}
