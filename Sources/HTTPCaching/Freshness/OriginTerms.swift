import Foundation
import HTTPTypes

/// What an origin says to us, a shared cache: by `CDN-Cache-Control` alone where that is valid, or else by `Cache-Control`
/// and `Expires` (RFC 9213 §2.2).
struct OriginTerms {
    let directives: CacheDirectives
    let isTargeted: Bool

    init(_ fields: HTTPFields) {
        let targeted = fields[.cdnCacheControl].flatMap(CacheDirectives.init(targeted:))
        isTargeted = targeted != nil
        directives = targeted ?? fields[.cacheControl].map(CacheDirectives.init(parsing:)) ?? CacheDirectives()
    }
}

/// A lifetime and where it is from.
struct Lifetime: Hashable {
    var duration: Duration
    var basis: Freshness.Basis

    init(_ duration: Duration, _ basis: Freshness.Basis) {
        self.duration = duration
        self.basis = basis
    }

    /// Zero, and for another reason, where the number cannot be read.
    init(_ stated: CacheDirectives.Stated, _ basis: Freshness.Basis) {
        self.init(stated.duration, stated == .invalid ? .invalid : basis)
    }
}

extension StoredResponse {
    /// `date_value` of RFC 9111 §4.2.3.
    var date: Date { fields[.date].flatMap(date(parsing:)) ?? receivedAt }

    /// What `Expires` gives (RFC 9111 §5.3). No date, or lines that contradict each other, mean that it is over.
    var expiry: Lifetime? {
        let lines = fields[values: .expires]
        guard let first = lines.first else { return nil }
        guard lines.allSatisfy({ $0 == first }), let expires = date(parsing: first) else {
            return Lifetime(.invalid, .expires)
        }
        return Lifetime(max(Duration(from: date, to: expires), .zero), .expires)
    }

    /// The guess from `Last-Modified` (RFC 9111 §4.2.2).
    var heuristic: Lifetime? {
        guard let modified = fields[.lastModified].flatMap(date(parsing:)) else { return nil }
        let unchanged = max(Duration(from: modified, to: date), .zero)
        return Lifetime(min(unchanged / 10, FreshnessPolicy.heuristicCap), .heuristic)
    }

    private func date(parsing text: String) -> Date? { HTTPDate(parsing: text, now: receivedAt)?.date }
}
