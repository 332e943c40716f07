import DarkroomTransforms
import Foundation
import NIOCore
import Testing

/// Faces through the built executable with its workers, over a socket.
@Suite(.timeLimit(.minutes(5)))
struct FaceRouteTests {
    private static var root: String { URL.fixtures.deletingLastPathComponent().appendingPathComponent("faces").path }
    private let source = "local:///astronaut.jpg"

    @Test(.enabled(if: FaceDetector.isBuiltIn))
    func `A server with the setting crops to faces, hides and describes them, and says how many`() async throws {
        let server = try await DarkroomProcess(["--local-root", Self.root, "--faces", "true"])
        for query in ["w=80&h=80&fit=cover&a=face", "w=80&h=80&fit=cover&a=faces&facezoom=0.5", "redact=face:pixelate"]
        {
            // The second answer comes from the cache.
            for _ in 0..<2 {
                let image = try await server.image(source, query)
                #expect(image.status == 200 && image["x-faces"] == "1", "\(query)")
            }
        }
        let document = try await Client.get("\(server.base)/info?url=\(source)&fields=faces")
        #expect(document.status == 200 && String(buffer: document.body).contains("\"confidence\":"))
        let plan = try await Client.get("\(server.base)/explain?url=\(source)&redact=face")
        #expect(String(buffer: plan.body).contains("\"name\":\"redact\""))
        #expect(String(buffer: plan.body).contains(#""face_searches":[{"estimated_processor_milliseconds":"#))
        #expect(String(buffer: plan.body).contains(#""purpose":"hide""#))
        #expect(await server.stop() == 0)
    }

    @Test func `A server without the setting refuses faces and says which setting they need`() async throws {
        let server = try await DarkroomProcess(["--local-root", Self.root])
        for query in ["w=80&h=80&fit=cover&a=face", "redact=face"] {
            let refusal = try await server.image(source, query)
            #expect(refusal.status == 400 && String(buffer: refusal.body).contains("setting faces"), "\(query)")
        }
        #expect(try await server.image(source, "w=80").status == 200)
        #expect(await server.stop() == 0)
    }

    @Test(.enabled(if: !FaceDetector.isBuiltIn))
    func `A build without the detector serves, and says what to install`() async throws {
        let server = try await DarkroomProcess(["--local-root", Self.root, "--faces", "true"])
        #expect(server.log.contains(FaceDetector.package))
        #expect(try await server.image(source, "redact=face").status == 400)
        #expect(await server.stop() == 0)
    }
}
