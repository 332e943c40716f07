import NIOCore

/// Writes messages: the values of `Codable` types in the order in which the types list them, without names.
///
/// Integers have the size of their type, texts and lists are preceded by their length, optional values by whether they
/// are present, and the payload of an enumeration's case by the name of the case. Types need no code of their own for
/// this, so every part of a job, a recipe or its steps can be sent to a worker.
final class WireEncoder: Encoder {
    /// The first byte of every message. Both ends run the same executable, so another value is an error.
    static let version: UInt8 = 3
    /// Maximum length of a text in UTF-8.
    static let maxTextBytes = 4096
    /// Maximum number of values in a list. The steps of a plan are at most `EffectStep.maxCount` and the ones that
    /// every job may have.
    static let maxListCount = 128

    fileprivate var written = ByteBuffer()

    /// The bytes of a message. Throws `.malformed` for a value that cannot be sent.
    static func bytes(of message: some Encodable) throws(WireError) -> ByteBuffer {
        let encoder = WireEncoder()
        encoder.written.reserveCapacity(512)
        encoder.written.writeInteger(version)
        do { try message.encode(to: encoder) } catch { throw .malformed }
        return encoder.written
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldWriter(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { ListWriter(encoder: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(encoder: self) }
}

/// A value that is written as such.
protocol WireScalar: Codable {
    func write(to buffer: inout ByteBuffer) throws(WireError)
    init(from buffer: inout ByteBuffer) throws(WireError)
}

extension WireScalar where Self: FixedWidthInteger {
    func write(to buffer: inout ByteBuffer) { buffer.writeInteger(self, endianness: .little) }

    init(from buffer: inout ByteBuffer) throws(WireError) {
        guard let value = buffer.readInteger(endianness: .little, as: Self.self) else { throw .malformed }
        self = value
    }
}

extension Int: WireScalar {}
extension Int8: WireScalar {}
extension Int16: WireScalar {}
extension Int32: WireScalar {}
extension Int64: WireScalar {}
extension UInt: WireScalar {}
extension UInt8: WireScalar {}
extension UInt16: WireScalar {}
extension UInt32: WireScalar {}
extension UInt64: WireScalar {}

extension Bool: WireScalar {
    func write(to buffer: inout ByteBuffer) { buffer.writeInteger(self ? 1 : 0, as: UInt8.self) }

    init(from buffer: inout ByteBuffer) throws(WireError) {
        let byte = try UInt8(from: &buffer)
        guard byte <= 1 else { throw .malformed }
        self = byte == 1
    }
}

extension Double: WireScalar {
    func write(to buffer: inout ByteBuffer) { bitPattern.write(to: &buffer) }
    init(from buffer: inout ByteBuffer) throws(WireError) { self.init(bitPattern: try UInt64(from: &buffer)) }
}

extension Float: WireScalar {
    func write(to buffer: inout ByteBuffer) { bitPattern.write(to: &buffer) }
    init(from buffer: inout ByteBuffer) throws(WireError) { self.init(bitPattern: try UInt32(from: &buffer)) }
}

extension String: WireScalar {
    func write(to buffer: inout ByteBuffer) throws(WireError) {
        guard let count = UInt16(exactly: utf8.count), count <= WireEncoder.maxTextBytes else { throw .malformed }
        buffer.writeInteger(count, endianness: .little)
        buffer.writeString(self)
    }

    init(from buffer: inout ByteBuffer) throws(WireError) {
        let count = Int(try UInt16(from: &buffer))
        guard count <= WireEncoder.maxTextBytes, let text = try? buffer.readUTF8ValidatedString(length: count) else {
            throw .malformed
        }
        self = text
    }
}

/// Writes the fields of a type, or the name of a case and its payload.
private struct FieldWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: WireEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { false.write(to: &encoder.written) }

    func encode<Value: WireScalar>(_ value: Value, forKey key: Key) throws { try value.write(to: &encoder.written) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try value.encode(to: encoder) }

    // One method for each scalar: the protocol's defaults, which write nothing for nil, take precedence over a generic
    // method.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value) }

    private func write(_ value: (some WireScalar)?) throws(WireError) {
        (value != nil).write(to: &encoder.written)
        try value?.write(to: &encoder.written)
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        (value != nil).write(to: &encoder.written)
        try value?.encode(to: encoder)
    }

    func nestedContainer<Field>(keyedBy type: Field.Type, forKey key: Key) -> KeyedEncodingContainer<Field> {
        try? key.stringValue.write(to: &encoder.written)
        return encoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// Writes a list, and before it the count of its values.
private struct ListWriter: UnkeyedEncodingContainer {
    let encoder: WireEncoder
    private let start: Int
    private(set) var count = 0 {
        didSet { encoder.written.setInteger(UInt8(clamping: count), at: start) }
    }

    init(encoder: WireEncoder) {
        self.encoder = encoder
        start = encoder.written.writerIndex
        encoder.written.writeInteger(0, as: UInt8.self)
    }

    var codingPath: [any CodingKey] { [] }

    private mutating func countValue() throws(WireError) {
        guard count < WireEncoder.maxListCount else { throw .malformed }
        count += 1
    }

    func encodeNil() throws { throw WireError.malformed }

    mutating func encode<Value: WireScalar>(_ value: Value) throws {
        try countValue()
        try value.write(to: &encoder.written)
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try countValue()
        try value.encode(to: encoder)
    }

    mutating func nestedContainer<Field>(keyedBy type: Field.Type) -> KeyedEncodingContainer<Field> {
        count += 1
        return encoder.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        count += 1
        return encoder.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder }
}

private struct ValueWriter: SingleValueEncodingContainer {
    let encoder: WireEncoder

    var codingPath: [any CodingKey] { [] }

    /// A value that may be nil can be a field only.
    func encodeNil() throws { throw WireError.malformed }
    func encode<Value: WireScalar>(_ value: Value) throws { try value.write(to: &encoder.written) }
    func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: encoder) }
}
