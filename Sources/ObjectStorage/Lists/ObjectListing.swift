import DarkroomNetwork
package import Foundation
import NIOCore

/// Objects of a bucket, in the order of the store. Nearly all stores order objects by key.
package struct ObjectListing: Sendable {
    /// The objects.
    package var objects: [ListedObject]
    /// Whether there are more objects. The last key is where the next listing starts after.
    package var isTruncated: Bool
}

/// An object in a listing.
package struct ListedObject: Hashable, Sendable {
    /// The key.
    package let key: ObjectKey
    /// The size in bytes.
    package let size: Int
    /// The ETag with its quotes, as most stores send it.
    package let etag: String?
    /// When the object was written.
    package let lastModified: Date?
}

/// One page of a listing (`ListObjectsV2`).
struct ListPage: Equatable {
    /// The largest number of keys of a page.
    static let maxKeys = 1000
    /// The largest document in bytes: a page of the longest keys, all of them encoded, fits.
    static let maxDocumentBytes = 8 << 20

    var objects: [ListedObject]
    /// Leads to the next page. Nil on the last page.
    var token: String?

    /// The parameters of a request.
    static func parameters(
        prefix: String, startAfter: ObjectKey?, maxKeys: Int, token: String?
    ) -> [(name: String, value: String)] {
        var parameters = [
            (name: "list-type", value: "2"), ("encoding-type", "url"), ("max-keys", "\(min(maxKeys, Self.maxKeys))"),
        ]
        if !prefix.isEmpty { parameters.append(("prefix", prefix)) }
        if let startAfter { parameters.append(("start-after", startAfter.description)) }
        if let token { parameters.append(("continuation-token", token)) }
        return parameters
    }

    /// Nil if the document is not a page.
    init?(_ document: ByteBuffer) {
        guard let root = try? XMLDocument.root(of: Array(document.readableBytesView)), root.name == "ListBucketResult"
        else { return nil }
        let isEncoded = root.text(of: "EncodingType")?.lowercased() == "url"
        objects = []
        for element in root.children where element.name == "Contents" {
            guard let object = ListedObject(element, isEncoded: isEncoded) else { return nil }
            objects.append(object)
        }
        switch root.text(of: "IsTruncated") {
        case "true":
            guard let token = root.text(of: "NextContinuationToken"), (1...4096).contains(token.utf8.count) else {
                return nil
            }
            self.token = token
        case "false": token = nil
        default: return nil
        }
    }
}

extension ListedObject {
    /// - Parameter isEncoded: whether the key is encoded as in a form, so that XML can contain any of them.
    fileprivate init?(_ element: XMLElement, isEncoded: Bool) {
        guard let text = element.text(of: "Key"), let name = isEncoded ? Self.decoded(text) : text,
            let key = try? ObjectKey(name), let size = element.text(of: "Size").flatMap(Int.init(digits:))
        else { return nil }
        self.key = key
        self.size = size
        etag = element.text(of: "ETag")
        lastModified = element.text(of: "LastModified").flatMap(Date.init(iso8601:))
    }

    private static func decoded(_ text: String) -> String? {
        let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(Substring(String(decoding: spaced, as: UTF8.self)).utf8)
    }
}

extension Date {
    /// A time in UTC as `2026-11-22T10:00:00Z`, with or without fractions of a second.
    init?(iso8601 text: String) {
        let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
        guard let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else { return nil }
        self = date
    }
}
