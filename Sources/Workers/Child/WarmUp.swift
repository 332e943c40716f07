import DarkroomTransforms
import NIOCore

/// Uses every codec once, so that libraries load and initialize while the sandbox still allows it.
enum WarmUp {
    /// Skips codecs that this libvips lacks.
    static func run() {
        let drawing = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">\
                <rect width="16" height="9" fill="#c40"/><text y="14" font-size="8">a</text></svg>
                """)
        for format in OutputFormat.allCases {
            guard let image = encoded(as: format, from: drawing), !format.isText else { continue }
            _ = encoded(as: .jpeg, from: image)
        }
    }

    private static func encoded(as format: OutputFormat, from source: ByteBuffer) -> ByteBuffer? {
        var recipe = Recipe()
        recipe.box = Box(width: 8, height: 8)
        recipe.fit = .cover
        let job = ImageJob(source: source, chain: TransformChain(recipe), output: OutputOptions(format: format))
        return try? InProcessImageProcessor().process(job) { false }.body
    }
}
