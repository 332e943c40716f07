import Tracing

/// `KeyValue`: an attribute.
struct KeyValue: Encodable {
    let key: String
    let value: AnyValue

    /// `AnyValue`
    indirect enum AnyValue: Encodable {
        case text(String)
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        case list([AnyValue])

        private enum Keys: String, CodingKey { case stringValue, boolValue, intValue, doubleValue, arrayValue, values }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            switch self {
            case .text(let text): try container.encode(text, forKey: .stringValue)
            case .boolean(let value): try container.encode(value, forKey: .boolValue)
            case .integer(let number): try container.encode("\(number)", forKey: .intValue)
            case .number(let number): try container.encode(number, forKey: .doubleValue)
            case .list(let values):
                var list = container.nestedContainer(keyedBy: Keys.self, forKey: .arrayValue)
                try list.encode(values, forKey: .values)
            }
        }
    }
}

extension SpanAttributes {
    /// The attributes in alphabetical order.
    var encoded: [KeyValue] {
        var encoded: [KeyValue] = []
        forEach { key, value in
            if let value = KeyValue.AnyValue(value) { encoded.append(KeyValue(key: key, value: value)) }
        }
        return encoded.sorted { $0.key < $1.key }
    }
}

extension KeyValue.AnyValue {
    /// Nil for a kind of value that this version does not support.
    fileprivate init?(_ attribute: SpanAttribute) {
        switch attribute {
        case .string(let text): self = .text(text)
        case .bool(let value): self = .boolean(value)
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .number(number)
        case .stringConvertible(let value): self = .text("\(value)")
        case .stringArray(let texts): self = .list(texts.map { .text($0) })
        case .boolArray(let values): self = .list(values.map { .boolean($0) })
        case .int32Array(let numbers): self = .list(numbers.map { .integer(Int64($0)) })
        case .int64Array(let numbers): self = .list(numbers.map { .integer($0) })
        case .doubleArray(let numbers): self = .list(numbers.map { .number($0) })
        case .stringConvertibleArray(let values): self = .list(values.map { .text("\($0)") })
        default: return nil
        }
    }
}
