/// The fields that an endpoint adds to the access log's entry of its request.
package struct AccessLogDetails: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int)
    }

    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: Value
    }

    /// Sorted by name.
    package let fields: [Field]
    /// Whether the response is fresh and from a cache, without contacting an origin and without processing.
    package let isHit: Bool
    /// The size of all names and texts.
    package let byteCount: Int

    package static let none = AccessLogDetails([:])

    /// - Parameter fields: those without a value are omitted. Texts of more than 256 bytes are truncated.
    package init(_ fields: KeyValuePairs<String, Value?>, isHit: Bool = false) {
        self.fields = fields.compactMap { name, value in value.map { Field(name: name, value: $0.bounded) } }
            .sorted { $0.name < $1.name }
        self.isHit = isHit
        byteCount = self.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.byteCount }
    }
}

extension AccessLogDetails.Value {
    fileprivate var bounded: Self {
        if case .text(let text) = self { .text(text.truncated(to: AccessLog.maxTextBytes)) } else { self }
    }

    fileprivate var byteCount: Int {
        if case .text(let text) = self { text.utf8.count } else { 0 }
    }
}
