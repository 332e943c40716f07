import DarkroomNetwork
import DarkroomStore
import Foundation
import NIOCore
import NIOFoundationCompat

/// A purge as other servers read it: a small JSON document.
struct PurgeMessage: Codable, Hashable {
    private enum Kind: String, Codable { case url, prefix, host, tag, everything }

    private var kind: Kind
    private var value: String?
    /// Whether sources become stale instead of being removed.
    var isSoft: Bool

    private enum CodingKeys: String, CodingKey {
        case kind, value
        case isSoft = "soft"
    }

    init(_ target: PurgeTarget, isSoft: Bool) {
        self.isSoft = isSoft
        switch target {
        case .source(let url): (kind, value) = (.url, url.canonical)
        case .prefix(let prefix): (kind, value) = (.prefix, prefix)
        case .host(let host): (kind, value) = (.host, host)
        case .tag(let tag): (kind, value) = (.tag, tag)
        case .everything: (kind, value) = (.everything, nil)
        }
    }

    /// Nil if the bytes are no purge.
    init?(_ bytes: ByteBuffer) {
        guard let message = try? JSONDecoder().decode(Self.self, from: Data(buffer: bytes)), message.target != nil
        else { return nil }
        self = message
    }

    var bytes: ByteBuffer { (try? JSONEncoder().encode(self)).map { ByteBuffer(data: $0) } ?? ByteBuffer() }

    /// What the purge removes; nil if it is not understood.
    var target: PurgeTarget? {
        switch (kind, value) {
        case (.everything, _): .everything
        case (.url, let value?): (try? SourceURL(parsing: value)).map { .source($0) }
        case (.prefix, let value?): .prefix(value)
        case (.host, let value?): .host(value)
        case (.tag, let value?): .tag(value)
        case (_, nil): nil
        }
    }
}
