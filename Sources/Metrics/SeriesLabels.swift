/// The labels of a series, in the order of their names: equal sets are equal, however they were given.
package struct SeriesLabels: Hashable, Sendable {
    struct Label: Hashable, Sendable {
        var name: String
        var value: String
    }

    let labels: [Label]

    /// Of names and values. Characters that a name may not have become `_`, values may be any text; of several labels with one name
    /// the first counts.
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

/// What the data model of Prometheus allows as names.
enum MetricNaming {
    static func metric(_ name: String) -> String { made(of: name, besides: ":_") }

    /// `le` belongs to histograms, and two underscores in front to Prometheus itself.
    static func label(_ name: String) -> String {
        let name = made(of: name, besides: "_")
        return name == "le" || name.hasPrefix("__") ? "label_" + name.drop { $0 == "_" } : name
    }

    private static func made(of name: String, besides allowed: String) -> String {
        let clean = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || allowed.contains($0) ? $0 : "_" })
        return clean.first.map { $0.isNumber } == false ? clean : "_" + clean
    }
}
