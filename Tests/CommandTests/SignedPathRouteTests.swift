import DarkroomDialects
import Foundation
import NIOHTTP1
import Testing

/// Signed paths of another service, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct SignedPathRouteTests {
    @Test func `One encoded byte of a signed path changes neither the image nor its expiry`() async throws {
        let server = try await DarkroomProcess([
            "--compat", "thumbor", "--thumbor-key", "secret", "--local-root", URL.fixtures.path,
        ])
        let path = "60x40/filters:blur(9):expire(4102444800000)/sample.jpg"
        let base = "\(server.base)/\(ThumborKey("secret").sign(path))/"
        let signed = try await Client.get(base + path)
        #expect(signed.status == 200)
        for (index, byte) in zip(path.utf8.indices, path.utf8) {
            let escape = "%" + String(byte, radix: 16, uppercase: true)
            let changed = "\(path[..<index])\(escape)\(path[path.utf8.index(after: index)...])"
            let answer = try await Client.get(base + changed)
            #expect(answer.status == 200 && answer.body == signed.body, "\(changed): \(answer.status)")
            #expect(answer["cache-control"]?.contains("must-revalidate") == true, "\(changed)")
        }
        for other in [path.replacing("blur(9):", with: ""), path.replacing("expire", with: "none"), path + "x"] {
            #expect(try await Client.get(base + other).status == 403)
        }
    }
}
