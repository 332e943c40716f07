import DarkroomRequests
import Testing

struct PositionTests {
    static let whole = PixelSize(width: 300, height: 200)
    static let cut = PixelSize(width: 100, height: 100)

    @Test(arguments: [
        (Position.center, 100, 50), (.anchor(x: 0, y: 0), 0, 0), (.anchor(x: 1, y: 0), 200, 0),
        (.anchor(x: 0.5, y: 1), 100, 100), (.focal(x: 0.5, y: 0.5), 100, 50), (.focal(x: 0, y: 1), 0, 100),
        (.focal(x: 0.4, y: 0.4), 70, 30), (.focal(x: 0.9, y: 0.1), 200, 0),
    ])
    func `A position gives the crop's corner within the image`(_ position: Position, x: Int, y: Int) throws {
        let corner = try #require(position.corner(of: Self.cut, in: Self.whole))
        #expect(corner == (x, y))
    }

    @Test func `Positions that depend on pixels have no fixed corner, and no two positions share a key`() {
        #expect(Position.entropy.corner(of: Self.cut, in: Self.whole) == nil)
        #expect(Position.attention.corner(of: Self.cut, in: Self.whole) == nil)
        let all: [Position] = [.center, .focal(x: 0.5, y: 0.5), .anchor(x: 0, y: 0.5), .entropy, .attention]
        #expect(Set(all.map(\.key)).count == all.count)
    }
}
