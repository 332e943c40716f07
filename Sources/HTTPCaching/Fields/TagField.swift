import DarkroomNetwork
package import HTTPTypes

/// A response field with purge tags, as a CDN reads it.
///
/// Limits are taken from the CDN's documentation. A tag beyond them would make the CDN ignore the tag, the remaining
/// field or the purge, so it is left out.
package struct TagField: Hashable, Sendable {
    /// The field's name.
    package let name: HTTPField.Name
    package let separator: String
    package let maxTagBytes: Int
    /// The most tags of a response.
    package let maxTags: Int
    /// The most bytes of the field's value.
    package let maxFieldBytes: Int
    /// The visible ASCII characters that tags must not have.
    private let excluded: String

    /// `Cache-Tag` of Cloudflare: https://developers.cloudflare.com/cache/how-to/purge-cache/purge-by-tags/
    package static let cloudflare = TagField(
        name: .cacheTag, separator: ",", maxTagBytes: 1024, maxTags: 1000, maxFieldBytes: 16 << 10,
        excluded: ",")
    /// `Surrogate-Key` of Fastly: https://www.fastly.com/documentation/reference/http/http-headers/Surrogate-Key/
    package static let fastly = TagField(
        name: .surrogateKey, separator: " ", maxTagBytes: 1024, maxTags: 1000, maxFieldBytes: 16_384,
        excluded: "")
    /// `Edge-Cache-Tag` of Akamai, whose tags are tokens without `*`:
    /// https://techdocs.akamai.com/purge-cache/docs/assign-cache-tags
    ///
    /// The limit of the field leaves space for other fields within the 8192 bytes of a head.
    package static let akamai = TagField(
        name: .known("Edge-Cache-Tag"), separator: ",", maxTagBytes: 128, maxTags: 128, maxFieldBytes: 4 << 10,
        excluded: #""(),/:;<=>?@[\]{}*"#)
    /// `CDN-Tag` of bunny.net, where `*` is a wildcard: https://docs.bunny.net/cdn/purge-cache
    package static let bunny = TagField(
        name: .known("CDN-Tag"), separator: ",", maxTagBytes: 256, maxTags: 100, maxFieldBytes: 1024,
        excluded: ",*")
    /// `xkey` of Varnish's module of the same name, whose lines are at most 8 KiB by default:
    /// https://github.com/varnish/varnish-modules/blob/master/src/vmod_xkey.vcc
    package static let xkey = TagField(
        name: .known("xkey"), separator: " ", maxTagBytes: 1024, maxTags: 1000, maxFieldBytes: 7 << 10,
        excluded: ",")

    /// Whether the CDN can purge by this tag.
    package func accepts(_ tag: String) -> Bool {
        (1...maxTagBytes).contains(tag.utf8.count)
            && tag.utf8.allSatisfy {
                $0.isPlainNameCharacter || (0x21...0x7e).contains($0) && !excluded.utf8.contains($0)
            }
    }

    /// The field's value with as many of the tags as the limits allow, in their order.
    ///
    /// - Returns: nil for no value if no tag is left; and the tags that were left out.
    package func value(of tags: [String]) -> (text: String?, leftOut: [String]) {
        var text = ""
        var count = 0
        var leftOut: [String] = []
        for tag in tags {
            let bytes = text.utf8.count + separator.utf8.count + tag.utf8.count
            guard accepts(tag), count < maxTags, bytes <= maxFieldBytes else {
                leftOut.append(tag)
                continue
            }
            text += count == 0 ? tag : separator + tag
            count += 1
        }
        return (count == 0 ? nil : text, leftOut)
    }
}

extension HTTPField.Name {
    /// `Darkroom-Purge`, with the id of a purge of a Darkroom server.
    ///
    /// Edges get it with each purge, and the receiver of a webhook that purges this server in turn passes it on. A
    /// purge with this field is carried out, but not sent to edges, so that a loop ends.
    package static let purgeChain = known("Darkroom-Purge")
}
