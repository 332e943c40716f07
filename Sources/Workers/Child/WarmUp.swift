import DarkroomTransforms
import NIOCore

/// Has every codec used once, so that libraries load and set up what they need while they may.
enum WarmUp {
    /// Whatever this libvips lacks is left out.
    static func run() {
        let drawing = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">\
                <rect width="16" height="9" fill="#c40"/><text y="14" font-size="8">a</text></svg>
                """)
        for format in OutputFormat.allCases {
            guard let picture = made(as: format, from: drawing), !format.isText else { continue }
            _ = made(as: .jpeg, from: picture)
        }
    }

    private static func made(as format: OutputFormat, from source: ByteBuffer) -> ByteBuffer? {
        var recipe = Recipe()
        recipe.box = Box(width: 8, height: 8)
        recipe.fit = .cover
        let job = ImageJob(source: source, chain: TransformChain(recipe), output: OutputOptions(format: format))
        return try? InProcessImageProcessor().process(job) { false }.body
    }
}
