import DarkroomCVips

/// The one piece of global state: libvips itself, started once and locked down.
///
/// The operation cache is off (each request has its own bytes, and a cache of operations is only fragmentation), one thread
/// works at one picture (requests are the parallelism), and of all loaders only those in `VipsLoader` can ever run.
public enum VipsRuntime {
    /// Starts libvips; later calls do nothing. Every entry point of this module calls it.
    public static func start() {
        precondition(started, "libvips could not start: \(VipsError.taken(after: "vips_init").message)")
    }

    /// libvips' version, `major.minor.patch`.
    public static var version: String {
        start()
        return String(cString: vips_version_string())
    }

    /// Whether this libvips can read the format.
    public static func canLoad(_ loader: VipsLoader) -> Bool {
        start()
        return vips_type_find("VipsForeignLoad", loader.rawValue) != 0
    }

    /// Whether this libvips can write the format.
    public static func canSave(_ saver: VipsSaver) -> Bool {
        start()
        return vips_type_find("VipsForeignSave", saver.rawValue) != 0
    }

    /// Bytes that libvips holds for pixels now, and the most it has ever held, in this process.
    public static var trackedMemory: (bytes: Int, peakBytes: Int) {
        start()
        return (vips_tracked_get_mem(), vips_tracked_get_mem_highwater())
    }

    /// Gives memory that was freed back to the system, where the allocator would keep it. Blocks for up to a few hundred
    /// milliseconds: for times when the system is short of it.
    package static func returnFreedPages() { darkroom_return_freed_pages() }

    private static let started: Bool = {
        darkroom_limit_malloc_arenas(2)
        // What GLib and libvips warn about are foreign files, in those files' words: nothing for standard error.
        g_log_set_default_handler({ _, _, _, _ in }, nil)
        guard vips_init("darkroom") == 0 else { return false }
        darkroom_silence_warnings()
        vips_cache_set_max(0)
        vips_concurrency_set(1)
        vips_operation_block_set("VipsForeignLoad", 1)
        for loader in VipsLoader.allCases {
            vips_operation_block_set(loader.className, 0)
        }
        return true
    }()
}
