import DarkroomCVips

/// The failure of a libvips operation.
///
/// `message` is diagnostic text for logs: libvips' error buffer is shared by the whole process, so it may contain
/// another thread's errors. No code branches on it, and it never reaches a client.
public struct VipsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The nickname of the failed libvips operation, such as `jpegload_buffer`.
    public let operation: String
    /// libvips' own text in one line of at most 400 characters.
    public let message: String

    public var description: String { "\(operation): \(message)" }

    /// An error that this project detects itself.
    package init(operation: String, message: String) {
        self.operation = operation
        self.message = message
    }

    /// Reads and clears libvips' error buffer, right after `operation` failed.
    static func taken(after operation: String) -> VipsError {
        // The buffer itself may change while it is read.
        let buffer = vips_error_buffer_copy()
        defer { g_free(buffer) }
        let text = buffer.map { String(cString: $0) } ?? ""
        let line = text.split(whereSeparator: \.isNewline).joined(separator: "; ")
        return VipsError(operation: operation, message: String(line.prefix(400)))
    }
}
