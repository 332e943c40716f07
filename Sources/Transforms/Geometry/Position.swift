/// Where `cover` cuts and where `contain` places.
public enum Position: Hashable, Codable, Sendable {
    /// A point of the free space, 0…1 from the left and from the top: `center` is (0.5, 0.5).
    case anchor(x: Double, y: Double)
    /// A point of the picture, 0…1 from the left and from the top, which comes as near to the middle as it can.
    case focal(x: Double, y: Double)
    /// The part with the most going on in it.
    case entropy
    /// The part that draws the eye: skin tones, saturated colours, edges.
    case attention

    /// In the middle.
    public static let center = Position.anchor(x: 0.5, y: 0.5)

    /// The text that keys use.
    var key: String {
        switch self {
        case .anchor(let x, let y): "anchor \(x) \(y)"
        case .focal(let x, let y): "focal \(x) \(y)"
        case .entropy: "entropy"
        case .attention: "attention"
        }
    }

    /// Left upper corner of a cut of `size` from `whole`, for the positions that need not look at pixels.
    func corner(of size: PixelSize, in whole: PixelSize) -> (x: Int, y: Int)? {
        let free = (x: whole.width - size.width, y: whole.height - size.height)
        switch self {
        case .anchor(let x, let y):
            return (Self.along(free.x, x), Self.along(free.y, y))
        case .focal(let x, let y):
            return (
                Self.around(Double(whole.width) * x, side: size.width, free: free.x),
                Self.around(Double(whole.height) * y, side: size.height, free: free.y)
            )
        case .entropy, .attention:
            return nil
        }
    }

    private static func along(_ free: Int, _ fraction: Double) -> Int {
        Int((Double(free) * fraction).rounded(.down))
    }

    private static func around(_ point: Double, side: Int, free: Int) -> Int {
        min(max(Int((point - Double(side) / 2).rounded()), 0), max(free, 0))
    }
}
