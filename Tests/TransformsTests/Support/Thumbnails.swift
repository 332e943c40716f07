import DarkroomRequests

@testable import DarkroomTransforms

extension Thumbnail {
    static func flat(_ width: Int, _ height: Int, _ color: Color) -> Thumbnail {
        Thumbnail(width: width, pixels: Array(repeating: color, count: width * height))
    }

    /// Each channel rises differently and wraps at 256, so that no frequency is exactly zero.
    static func slopes(_ width: Int, _ height: Int, alpha: Bool = false) -> Thumbnail {
        Thumbnail(
            width: width,
            pixels: (0..<width * height).map { index in
                let (x, y) = (index % width, index / width)
                return Color(
                    red: UInt8((x * 7 + y * y) % 256), green: UInt8((x * y * 3 + y * 11) % 256),
                    blue: UInt8((x * x + y * 5) % 256),
                    alpha: alpha ? UInt8((x * 6 + x * y) % 256) : 255)
            })
    }
}
