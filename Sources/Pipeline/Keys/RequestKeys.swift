import NIOCore
import Origin
import Store
import Transforms

/// The three names of a request, each made of the one before. Equality of keys *is* the rule for sharing work.
struct RequestKeys: Hashable, Sendable {
    /// Which source it is, after the filter.
    let source: StoreKey
    /// The entry of the source's bytes.
    let original: EntryKey
    /// The entry of the finished picture.
    let variant: EntryKey

    /// - Parameter epoch: names the encoders; variants of other encoders are other variants.
    init(_ request: ImageRequest, chain: TransformChain, identity: String, epoch: String) {
        source = Self.key("source", identity)
        original = EntryKey(source: source, entry: Self.key("original", source.hex))
        variant = EntryKey(
            source: source,
            entry: Self.key(
                "variant", source.hex, chain.key, Self.text(of: request.pages, in: request.output),
                request.output.key, epoch))
    }

    /// Where the output holds one frame only, how many were asked for changes nothing.
    private static func text(of pages: PageSelection, in output: OutputOptions) -> String {
        let several = output.format.map(\.holdsSeveral) ?? true
        return "\(pages.first),\(several ? pages.count.map(String.init) ?? "all" : "one")"
    }

    /// Each part with its length in front, so that no two lists of parts are the same text.
    private static func key(_ parts: String...) -> StoreKey {
        var text = ""
        for part in parts { text += "\(part.utf8.count):\(part)" }
        return StoreKey(hashing: Array(text.utf8))
    }
}
