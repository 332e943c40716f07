import DarkroomTransforms
import NIOCore

/// Loads and initializes what every worker needs, before workers are forked.
enum WarmUp {
    /// Reads the header of a drawing, which starts libvips and loads the libraries of its codecs, and the settings of
    /// fonts.
    ///
    /// Computes no pixels: see ``Zygote/run()``. Lays out no text either: since version 1.51.2, Pango starts a thread
    /// with its first font map that never ends. A worker that inherited the font map without the thread would wait for
    /// it forever.
    static func run() {
        let drawing = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0H8V8z"/></svg>
                """)
        _ = try? SourceHeader(of: drawing)
        Text.loadFontSettings()
    }
}
