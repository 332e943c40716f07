import NIOCore

/// Reads messages that ``WireEncoder`` has written. Everything is bounded and checked: bytes from a worker may be
/// hostile. Whether the values make sense is for the reader of the message to check.
final class WireDecoder: Decoder {
    /// Maximum number of values within each other, such as an error that is the error of a mark.
    private static let maxDepth = 16

    fileprivate var unread: ByteBuffer
    private var depth = 0

    private init(_ bytes: ByteBuffer) { unread = bytes }

    /// Reads a message and leaves what follows it.
    static func read<Message: Decodable>(
        _ type: Message.Type, from bytes: inout ByteBuffer
    ) throws(WireError) -> Message {
        guard try UInt8(from: &bytes) == WireEncoder.version else { throw .malformed }
        let decoder = WireDecoder(bytes)
        do {
            let message = try Message(from: decoder)
            bytes = decoder.unread
            return message
        } catch {
            throw .malformed
        }
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldReader(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try ListReader(decoder: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { ValueReader(decoder: self) }

    fileprivate func value<Value: Decodable>() throws -> Value {
        guard depth < Self.maxDepth else { throw WireError.malformed }
        depth += 1
        defer { depth -= 1 }
        return try Value(from: self)
    }

}

/// Reads the fields of a type, or the name of a case and its payload.
private struct FieldReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: WireDecoder

    var codingPath: [any CodingKey] { [] }

    /// The case whose payload follows.
    var allKeys: [Key] {
        var ahead = decoder.unread
        return (try? String(from: &ahead)).flatMap(Key.init(stringValue:)).map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) throws -> Bool { try !Bool(from: &decoder.unread) }

    func decode<Value: WireScalar>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(from: &decoder.unread)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder.value() }

    func nestedContainer<Field>(
        keyedBy type: Field.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Field> {
        _ = try String(from: &decoder.unread)
        return decoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.unkeyedContainer()
    }

    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

private struct ListReader: UnkeyedDecodingContainer {
    let decoder: WireDecoder
    let count: Int?
    private(set) var currentIndex = 0

    init(decoder: WireDecoder) throws(WireError) {
        self.decoder = decoder
        let count = Int(try UInt8(from: &decoder.unread))
        guard count <= WireEncoder.maxListCount else { throw .malformed }
        self.count = count
    }

    var codingPath: [any CodingKey] { [] }
    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    private mutating func advance() throws(WireError) {
        guard !isAtEnd else { throw .malformed }
        currentIndex += 1
    }

    func decodeNil() -> Bool { false }

    mutating func decode<Value: WireScalar>(_ type: Value.Type) throws -> Value {
        try advance()
        return try Value(from: &decoder.unread)
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try advance()
        return try decoder.value()
    }

    mutating func nestedContainer<Field>(keyedBy type: Field.Type) throws -> KeyedDecodingContainer<Field> {
        try advance()
        return decoder.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try advance()
        return try decoder.unkeyedContainer()
    }

    mutating func superDecoder() -> any Decoder { decoder }
}

private struct ValueReader: SingleValueDecodingContainer {
    let decoder: WireDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<Value: WireScalar>(_ type: Value.Type) throws -> Value { try Value(from: &decoder.unread) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value() }
}
