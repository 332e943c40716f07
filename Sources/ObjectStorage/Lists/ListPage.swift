import DarkroomNetwork
import NIOCore

/// One page of a listing (`ListObjectsV2`).
struct ListPage: Equatable {
    /// The largest number of keys of a page.
    static let maxKeys = 1000
    /// The largest document in bytes: a page of the longest keys, all of them encoded, fits.
    static let maxDocumentBytes = 8 << 20

    var keys: [ObjectKey]
    /// Leads to the next page. Nil on the last page.
    var token: String?

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
        guard let root = try? XMLReader.root(of: Array(document.readableBytesView)), root.name == "ListBucketResult"
        else { return nil }
        let isEncoded = root.text(of: "EncodingType")?.lowercased() == "url"
        keys = []
        for element in root.children where element.name == "Contents" {
            // A key that is encoded as in a form may have any character, also those that XML cannot contain.
            guard let text = element.text(of: "Key"), let name = isEncoded ? Self.decoded(text) : text,
                let key = try? ObjectKey(name), element.text(of: "Size").flatMap(Int.init(digits:)) != nil
            else { return nil }
            keys.append(key)
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

    private static func decoded(_ text: String) -> String? {
        let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decode(Substring(String(decoding: spaced, as: UTF8.self)).utf8)
    }
}
