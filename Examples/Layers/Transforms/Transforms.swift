import DarkroomRequests
import DarkroomTransforms
import NIOCore

/// An image of up to 400 pixels as WebP. Blocks its thread for as long as that takes.
func thumbnail(of file: ByteBuffer) throws -> ByteBuffer {
    var recipe = Recipe()
    recipe.box = Box(width: 400, height: 400)
    let job = ImageJob(source: file, chain: TransformChain(recipe), output: OutputOptions(format: .webp))
    return try InProcessImageProcessor().process(job) { false }.body
}
