/// The two directions of the wire format: writes the fields of a message, or reads them in the same order.
///
/// A type lists its fields once, in ``WireValue/code(_:)``, for both. Numbers have a fixed size, texts and lists a
/// length before them. Everything that is read is bounded and checked: bytes from a worker may be hostile.
struct WireCoder {
    /// The first byte of every message. Both ends run the same executable, so another one is an error.
    static let version: UInt8 = 2
    /// Maximum length of a text in UTF-8.
    static let maxTextBytes = 4096

    /// The bytes written so far.
    private(set) var written: [UInt8] = []
    /// The bytes that are yet to be read; nil while writing.
    private(set) var unread: UnsafeRawBufferPointer?

    var isReading: Bool { unread != nil }

    /// Writes a message.
    init() {
        written.reserveCapacity(512)
        written.append(Self.version)
    }

    /// Reads a message. The bytes must outlive the coder.
    init(reading bytes: UnsafeRawBufferPointer) throws(WireError) {
        unread = bytes
        var version = Self.version
        try code(number: &version)
        guard version == Self.version else { throw .malformed }
    }

    /// Codes an integer of fixed width, little-endian.
    mutating func code<Number: FixedWidthInteger>(number: inout Number) throws(WireError) {
        guard isReading else {
            withUnsafeBytes(of: number.littleEndian) { written.append(contentsOf: $0) }
            return
        }
        number = Number(littleEndian: try take(MemoryLayout<Number>.size).loadUnaligned(as: Number.self))
    }

    mutating func code(text: inout String) throws(WireError) {
        var count = UInt32(clamping: text.utf8.count)
        guard count <= Self.maxTextBytes else { throw .malformed }
        try code(number: &count)
        guard isReading else {
            written.append(contentsOf: text.utf8)
            return
        }
        guard count <= Self.maxTextBytes, let valid = String(validating: try take(Int(count)), as: UTF8.self) else {
            throw .malformed
        }
        text = valid
    }

    /// Codes a case by its position among all cases.
    mutating func code<Choice: CaseIterable & Equatable>(choice: inout Choice) throws(WireError) {
        let cases = Array(Choice.allCases)
        var index = UInt8(clamping: cases.firstIndex(of: choice) ?? cases.count)
        try code(number: &index)
        guard index < cases.count else { throw .malformed }
        choice = cases[Int(index)]
    }

    mutating func code<Choice: CaseIterable & Equatable>(choice: inout Choice?) throws(WireError) {
        guard var present = try presence(of: choice, blank: Choice.allCases.first) else {
            choice = nil
            return
        }
        try code(choice: &present)
        choice = present
    }

    mutating func code<Value: WireValue>(_ value: inout Value) throws(WireError) { try value.code(&self) }

    mutating func code<Value: WireValue>(_ value: inout Value?) throws(WireError) {
        guard var present = try presence(of: value, blank: Value.blank) else {
            value = nil
            return
        }
        try present.code(&self)
        value = present
    }

    mutating func code<Value: WireValue>(_ values: inout [Value], maxCount: Int) throws(WireError) {
        var count = UInt16(clamping: values.count)
        try code(number: &count)
        guard count <= maxCount else { throw .malformed }
        if isReading { values = Array(repeating: Value.blank, count: Int(count)) }
        for index in values.indices { try values[index].code(&self) }
    }

    /// Codes a value and returns it.
    mutating func coded<Value: WireValue>(_ value: Value) throws(WireError) -> Value {
        var value = value
        try value.code(&self)
        return value
    }

    /// Codes whether there is a value, and returns the one to code next.
    private mutating func presence<Value>(of value: Value?, blank: Value?) throws(WireError) -> Value? {
        var isPresent = value != nil
        try code(&isPresent)
        return isPresent ? value ?? blank : nil
    }

    private mutating func take(_ count: Int) throws(WireError) -> UnsafeRawBufferPointer {
        guard let rest = unread, count <= rest.count else { throw .malformed }
        unread = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}

/// A value that messages carry.
protocol WireValue: Sendable {
    /// Any value, to be overwritten by reading.
    static var blank: Self { get }

    /// Codes every field in order.
    mutating func code(_ coder: inout WireCoder) throws(WireError)
}

extension Int: WireValue {
    static var blank: Int { 0 }

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(number: &self) }
}

extension Double: WireValue {
    static var blank: Double { 0 }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var bits = bitPattern
        try coder.code(number: &bits)
        self = Double(bitPattern: bits)
    }
}

extension Bool: WireValue {
    static var blank: Bool { false }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var byte: UInt8 = self ? 1 : 0
        try coder.code(number: &byte)
        guard byte <= 1 else { throw .malformed }
        self = byte == 1
    }
}

extension String: WireValue {
    static var blank: String { "" }

    mutating func code(_ coder: inout WireCoder) throws(WireError) { try coder.code(text: &self) }
}
