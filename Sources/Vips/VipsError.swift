import DarkroomCVips

/// What libvips said when an operation failed.
///
/// `message` is diagnostic text for logs: libvips' error buffer is one for the whole process, so another thread's
/// words may have got into it. Nothing may branch on it, and it never reaches a client.
public struct VipsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The libvips operation that failed, by its nickname (`jpegload_buffer`).
    public let operation: String
    /// libvips' own words, one line, at most 400 characters.
    public let message: String

    public var description: String { "\(operation): \(message)" }

    /// An error of our own about an operation.
    package init(operation: String, message: String) {
        self.operation = operation
        self.message = message
    }

    /// Takes over the error buffer right after `operation` failed.
    static func taken(after operation: String) -> VipsError {
        let buffer = String(cString: vips_error_buffer())
        vips_error_clear()
        let line = buffer.split(whereSeparator: \.isNewline).joined(separator: "; ")
        return VipsError(operation: operation, message: String(line.prefix(400)))
    }
}
