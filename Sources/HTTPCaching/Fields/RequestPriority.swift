import StructuredFieldValues

/// The `Priority` of a request (RFC 9218 §4).
public struct RequestPriority: Hashable, Sendable {
    /// 0, the most urgent, to 7. Default: 3.
    public var urgency: Int
    /// Whether the client can use parts of the response as they arrive. Default: false.
    public var isIncremental: Bool

    /// The priority of a request without the field (RFC 9218 §4).
    public static let `default` = RequestPriority(urgency: 3, isIncremental: false)

    /// A priority with the given parameters.
    public init(urgency: Int, isIncremental: Bool) {
        self.urgency = urgency
        self.isIncremental = isIncremental
    }

    /// Reads a `Priority` field. Members that are malformed, out of range or of another type are ignored.
    public init(parsing text: String) {
        if let plain = Self.plain(text.utf8) {
            self = plain
            return
        }
        self = .default
        // Decoding takes quadratic time in the number of members.
        guard text.utf8.count <= Self.maxBytes,
            let field = try? StructuredFieldValueDecoder().decode(PriorityField.self, from: Array(text.utf8))
        else { return }
        if let urgency = field.urgency, (0...7).contains(urgency) { self.urgency = Int(urgency) }
        if let isIncremental = field.isIncremental { self.isIncremental = isIncremental }
    }

    /// `u=1` and `u=1, i`, as browsers send it with every request. Decoding would take a hundred times as long.
    private static func plain(_ text: String.UTF8View) -> RequestPriority? {
        guard text.starts(with: "u=".utf8), let digit = text.dropFirst(2).first, (0x30...0x37).contains(digit) else {
            return nil
        }
        let rest = text.dropFirst(3)
        guard rest.isEmpty || rest.elementsEqual(", i".utf8) else { return nil }
        return RequestPriority(urgency: Int(digit - 0x30), isIncremental: !rest.isEmpty)
    }

    private static let maxBytes = 256
}

private struct PriorityField: StructuredFieldValue {
    static let structuredFieldType = StructuredFieldType.dictionary

    var urgency: Int64?
    var isIncremental: Bool?

    enum CodingKeys: String, CodingKey {
        case urgency = "u"
        case isIncremental = "i"
    }

    /// Members are ignored one by one (RFC 9218 §4).
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        urgency = try? container.decodeIfPresent(Int64.self, forKey: .urgency)
        isIncremental = try? container.decodeIfPresent(Bool.self, forKey: .isIncremental)
    }
}
