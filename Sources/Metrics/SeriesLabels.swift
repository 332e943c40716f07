/// The labels of a series, sorted by name, so that equal sets compare equal in any order.
package struct SeriesLabels: Hashable, Sendable {
    struct Label: Hashable, Sendable {
        var name: String
        var value: String
    }

    let labels: [Label]

    /// Creates labels from names and values. Invalid characters in names are replaced by `_`; values may be any text. The first
    /// of several labels with the same name wins.
    package init(_ dimensions: [(String, String)]) {
        var names: Set<String> = []
        labels = dimensions.map { Label(name: MetricNaming.label($0.0), value: $0.1) }
            .filter { names.insert($0.name).inserted }
            .sorted { $0.name < $1.name }
    }
}

extension SeriesLabels: Comparable {
    package static func < (left: SeriesLabels, right: SeriesLabels) -> Bool {
        left.labels.lexicographicallyPrecedes(right.labels) { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}

/// Names that the Prometheus data model allows.
enum MetricNaming {
    static func metric(_ name: String) -> String { sanitized(name, allowing: ":_") }

    /// `le` is reserved for histograms, a prefix of two underscores for Prometheus itself.
    static func label(_ name: String) -> String {
        let name = sanitized(name, allowing: "_")
        return name == "le" || name.hasPrefix("__") ? "label_" + name.drop { $0 == "_" } : name
    }

    private static func sanitized(_ name: String, allowing allowed: String) -> String {
        let clean = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || allowed.contains($0) ? $0 : "_" })
        return clean.first.map { $0.isNumber } == false ? clean : "_" + clean
    }
}
