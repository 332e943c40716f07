import Foundation
import NIOCore
import Yams

/// The OpenAPI document converted from YAML to JSON.
struct ContractJSON: Encodable {
    let node: Node

    /// Converts the document and resolves anchors and aliases. Throws when the YAML is malformed.
    static func document(from yaml: some Sequence<UInt8>) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let root = try Yams.compose(yaml: String(decoding: Array(yaml), as: UTF8.self)) ?? Node("")
        return ByteBuffer(bytes: try encoder.encode(ContractJSON(node: root)))
    }

    func encode(to encoder: any Encoder) throws {
        switch node {
        case .mapping(let mapping):
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in mapping {
                try container.encode(ContractJSON(node: value), forKey: Key(stringValue: key.string ?? ""))
            }
        case .sequence(let sequence):
            var container = encoder.unkeyedContainer()
            for member in sequence { try container.encode(ContractJSON(node: member)) }
        case .scalar(let scalar):
            try encode(scalar, to: encoder)
        case .alias:
            // Unreachable: composing resolves aliases.
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    /// Follows YAML 1.2, which has no numbers like `4:2:0` or `1_000`.
    private func encode(_ scalar: Node.Scalar, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch node.tag {
        case Tag(.null): try container.encodeNil()
        case Tag(.bool): try container.encode(node.bool)
        default:
            if node.tag == Tag(.int), let number = Int(scalar.string) {
                try container.encode(number)
            } else if node.tag == Tag(.float), let number = Double(scalar.string), number.isFinite {
                try container.encode(number)
            } else {
                try container.encode(scalar.string)
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
