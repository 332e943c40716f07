import DarkroomCMemory

/// Files that the system has in memory, so that a thread that must not wait for a device can read them. On systems
/// other than Linux there are none.
package enum CachedFiles {
    /// Opens a file like open(2); nil if the system does not have its path in memory, or on failure.
    package static func open(_ path: String, _ flags: Int32) -> Int32? {
        let file = darkroom_open_cached(path, flags)
        return file < 0 ? nil : file
    }

    /// Reads bytes at a position like pread(2). Fewer, or -1, if the system does not have them in memory.
    package static func read(_ file: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        guard let start = bytes.baseAddress else { return 0 }
        return darkroom_read_cached(file, start, bytes.count, off_t(offset))
    }

    /// The address of a function like pread(2) for a library that is to read only from memory within
    /// ``withoutWaiting(_:)``: there it fails for bytes that the system does not have in memory.
    package static var pread: OpaquePointer {
        let function: @convention(c) (Int32, UnsafeMutableRawPointer, Int, off_t) -> Int = darkroom_pread
        return unsafeBitCast(function, to: OpaquePointer.self)
    }

    /// Runs work on this thread with ``pread`` not waiting for a device.
    package static func withoutWaiting<Value>(_ body: () throws -> Value) rethrows -> Value {
        darkroom_wait_for_devices(0)
        defer { darkroom_wait_for_devices(1) }
        return try body()
    }
}
