import DarkroomCVips
import Foundation
import Synchronization

/// The only global state: libvips itself, started once and locked down.
///
/// The operation cache is off (every request has its own bytes, so it would only fragment memory), each image is
/// processed by one thread (requests run in parallel instead), and only the loaders of `VipsLoader` can run.
public enum VipsRuntime {
    /// Starts libvips; further calls do nothing. Every entry point of this module that needs it calls it.
    public static func start() {
        precondition(started, "libvips could not start: \(VipsError.taken(after: "vips_init").message)")
    }

    /// The version of libvips, `major.minor.patch`. Does not start it.
    public static var version: String { String(cString: vips_version_string()) }

    /// Whether this libvips has the loader.
    public static func canLoad(_ loader: VipsLoader) -> Bool {
        start()
        return loader.type != 0
    }

    /// Whether this libvips has the saver.
    public static func canSave(_ saver: VipsSaver) -> Bool {
        start()
        return vips_type_find("VipsForeignSave", saver.rawValue) != 0
    }

    /// Returns freed memory to the system (glibc `malloc_trim`). Blocks for up to a few hundred milliseconds; meant for
    /// memory pressure.
    package static func returnFreedPages() { darkroom_return_freed_pages() }

    /// Whether libvips computes several pixels at once with Orc, as until libvips 8.14. Later versions have Highway, or
    /// are built with Orc all the same.
    static let usesOrc = {
        start()
        return darkroom_is_loaded("liborc-0.4.so.0") != 0 || darkroom_is_loaded("liborc-0.4.0.dylib") != 0
    }()

    /// How libvips computes several pixels at once, with the instructions of the processor that it uses where libvips
    /// reports them: `Orc`, `Highway (AVX2)`, …
    package static var vectorDescription: String {
        (usesOrc ? "Orc" : "Highway") + (darkroom_vector_target().map { " (\(String(cString: $0)))" } ?? "")
    }

    /// Builds operations or frees objects of libvips; with Orc, on one thread at a time.
    ///
    /// libvips compiles the inner loops of some operations with Orc when they are built, and frees the code with the
    /// last reference to their results. Orc's table of code has no lock in version 0.4.33 (Debian 12): two threads at
    /// once corrupt the heap, or get the same memory for their code. Pixels are computed without this lock.
    static func exclusively<Result>(_ body: () -> Result) -> Result {
        usesOrc ? turn.withLock { _ in body() } : body()
    }

    private static let turn = Mutex(())

    private static let started: Bool = {
        darkroom_limit_malloc_arenas(2)
        // GLib and libvips log warnings that quote untrusted files; these must not reach standard error.
        g_log_set_default_handler({ _, _, _, _ in }, nil)
        guard vips_init("darkroom") == 0 else { return false }
        darkroom_silence_warnings()
        vips_cache_set_max(0)
        vips_concurrency_set(1)
        vips_operation_block_set("VipsForeignLoad", 1)
        for loader in VipsLoader.allCases where loader.type != 0 {
            vips_operation_block_set(g_type_name(loader.type), 0)
        }
        return true
    }()

    /// The codec libraries that libvips has loaded into this process, sorted: `libjpeg 62.3.0`, …, without a version if
    /// the library's file name has none. Empty on platforms other than Linux.
    public static let codecs: [String] = {
        start()
        let known: Set<String> = [
            "libjpeg", "libpng16", "libspng", "libwebp", "libheif", "libaom", "libdav1d", "libde265", "libx265",
            "libSvtAv1Enc", "librav1e", "libjxl", "libtiff", "libcgif", "libimagequant", "librsvg-2", "liblcms2",
        ]
        // The shared objects mapped into this process, each in several lines, by paths without symbolic links.
        guard let maps = FileHandle(forReadingAtPath: "/proc/self/maps") else { return [] }
        let lines = String(decoding: maps.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n")
        let files = Set(lines.compactMap { line in line.lastIndex(of: "/").map { line[$0...].dropFirst() } })
        let found = files.compactMap { file -> String? in
            guard let range = file.range(of: ".so"), known.contains(String(file[..<range.lowerBound])) else {
                return nil
            }
            let version = file[range.upperBound...].drop { $0 == "." }
            return file[..<range.lowerBound] + (version.isEmpty ? "" : " \(version)")
        }
        return Set(found).sorted()
    }()
}
