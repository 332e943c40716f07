import DarkroomTransforms
import NIOCore

/// Loads and initializes what every worker needs, before workers are forked.
enum WarmUp {
    /// Reads a header, which starts libvips and lays out a text: libraries, fonts and their settings are loaded then.
    ///
    /// Computes no pixels: see ``Zygote/run()``.
    static func run() {
        let drawing = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg"><text y="14" font-size="8">a</text></svg>
                """)
        _ = try? SourceHeader(of: drawing)
    }
}
