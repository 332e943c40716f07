import DarkroomCVips
import NIOCore

/// One libvips operation, built by its nickname, run once.
///
/// Arguments are set as GObject properties, so every libvips operation is available without a binding of its own.
struct VipsOperation: ~Copyable {
    private let name: String
    private var pointer: UnsafeMutablePointer<DarkroomCVips.VipsOperation>

    /// Finds the operation. Throws if this libvips has none of that name, or if it is a blocked loader.
    init(_ name: String) throws(VipsError) {
        VipsRuntime.start()
        guard let pointer = vips_operation_new(name) else { throw .taken(after: name) }
        guard darkroom_is_blocked(pointer) == 0 else {
            VipsRuntime.exclusively { g_object_unref(pointer) }
            throw VipsError(operation: name, message: "blocked")
        }
        self.name = name
        self.pointer = pointer
    }

    deinit {
        VipsRuntime.exclusively { [pointer] in
            darkroom_unref_outputs(pointer)
            g_object_unref(pointer)
        }
    }

    func set(_ property: String, _ argument: VipsValue) throws(VipsError) {
        let type = darkroom_property_type(pointer, property)
        var value = GValue()
        guard type != 0, argument.write(to: &value, as: type) else {
            throw VipsError(operation: name, message: "argument \(property) does not take \(argument)")
        }
        g_object_set_property(gobject, property, &value)
        g_value_unset(&value)
    }

    /// Sets the input image, which most operations call `in` and some (`extract_area`, `smartcrop`) `input`.
    func setInput(_ image: VipsImage) throws(VipsError) {
        try set(darkroom_property_type(pointer, "in") == 0 ? "input" : "in", .image(image))
    }

    /// Lends bytes to the operation; they must outlive the operation and its output images.
    func set(_ property: String, lending bytes: UnsafeRawBufferPointer) {
        let blob = vips_blob_new(nil, bytes.baseAddress, bytes.count)
        var value = GValue()
        g_value_init(&value, vips_blob_get_type())
        g_value_set_boxed(&value, blob)
        g_object_set_property(gobject, property, &value)
        g_value_unset(&value)
        vips_area_unref(UnsafeMutableRawPointer(blob)?.assumingMemoryBound(to: VipsArea.self))
    }

    /// Sets the remaining arguments and runs the operation. libvips may return another object for the same operation;
    /// outputs are read from that object.
    mutating func run(_ arguments: KeyValuePairs<String, VipsValue> = [:]) throws(VipsError) {
        for (name, value) in arguments { try set(name, value) }
        var built: UnsafeMutablePointer<DarkroomCVips.VipsOperation>? = pointer
        let failed =
            if darkroom_is_foreign(pointer) != 0 {
                // Loaders and savers compile no loops, and savers do all of their work here.
                vips_cache_operation_buildp(&built)
            } else {
                VipsRuntime.exclusively { vips_cache_operation_buildp(&built) }
            }
        guard failed == 0, let built else { throw .taken(after: name) }
        pointer = built
    }

    func image() throws(VipsError) -> VipsImage {
        guard let object = output("out", vips_image_get_type(), { g_value_dup_object(&$0) }) else {
            throw VipsError(operation: name, message: "returned no image as out")
        }
        return VipsImage(taking: UnsafeMutableRawPointer(object).assumingMemoryBound(to: DarkroomCVips.VipsImage.self))
    }

    func int(_ property: String) -> Int {
        output(property, darkroom_type_int()) { Int(g_value_get_int(&$0)) }
    }

    func double(_ property: String) -> Double {
        output(property, darkroom_type_double()) { g_value_get_double(&$0) }
    }

    /// Copies an output blob.
    func bytes(_ property: String) throws(VipsError) -> ByteBuffer {
        let bytes = output(property, vips_blob_get_type()) { value in
            g_value_get_boxed(&value)?.assumingMemoryBound(to: VipsArea.self).pointee.bytes
        }
        guard let bytes else { throw VipsError(operation: name, message: "returned no bytes as \(property)") }
        return bytes
    }

    private func output<Value>(_ property: String, _ type: GType, _ read: (inout GValue) -> Value) -> Value {
        var value = GValue()
        g_value_init(&value, type)
        g_object_get_property(gobject, property, &value)
        defer { g_value_unset(&value) }
        return read(&value)
    }

    private var gobject: UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self)
    }
}

extension VipsArea {
    fileprivate var bytes: ByteBuffer { ByteBuffer(bytes: UnsafeRawBufferPointer(start: data, count: length)) }
}

/// The failure of a libvips operation.
///
/// `message` is diagnostic text for logs: libvips' error buffer is shared by the whole process, so it may contain
/// another thread's errors. No code branches on it, and it never reaches a client.
public struct VipsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The nickname of the failed libvips operation, such as `jpegload_buffer`.
    public let operation: String
    /// libvips' own text in one line of at most 400 characters.
    public let message: String

    package init(operation: String, message: String) {
        self.operation = operation
        self.message = message
    }

    public var description: String { "\(operation): \(message)" }

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
