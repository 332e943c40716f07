import Foundation
import Testing

/// `darkroom translate`, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct TranslateCommandTests {
    @Test func `URLs of thumbor become URLs of Darkroom, one on each line`() throws {
        let run = try DarkroomProcess.run([
            "translate", "--compat", "thumbor", "https://img.example.com/unsafe/300x200/example.com/a.jpg",
            "/unsafe/fit-in/filters:quality(70)/example.com/a.jpg?x=1",
        ])
        #expect(run.status == 0, "\(run.errors)")
        let source = "/image?url=https%3A%2F%2Fexample.com%2Fa.jpg"
        #expect(
            run.output == """
                \(source)&w=300&h=200&fit=cover&enlarge=true&formats=none
                \(source)%3Fx%3D1&formats=none&q=70

                """)
    }

    @Test func `A refused URL is an empty line, a sentence and an exit status`() throws {
        let run = try DarkroomProcess.run([
            "translate", "--compat", "cloudflare", "/cdn-cgi/image/width=80/a.jpg", "/cdn-cgi/image/nose=1/a.jpg",
        ])
        #expect(run.status == 1)
        #expect(run.output == "/image?url=local%3A%2F%2F%2Fa.jpg&w=80&formats=none\n\n")
        #expect(run.errors.contains("2: There is no option 'nose'."))
    }

    @Test func `With signing keys, the URLs are signed, and paths must be signed with the service's key`() throws {
        let environment = [
            "DARKROOM_SIGNING_KEYS": "k1:0123456789abcdef0123456789-secret", "DARKROOM_THUMBOR_KEY": "my-security-key",
            "DARKROOM_PUBLIC_URL": "https://new.example.com",
        ]
        let path = "/8ammJH8D-7tXy6kU3lTvoXlhu4o=/300x200/my.server.com/some/path/to/image.jpg"
        let run = try DarkroomProcess.run(["translate", "--compat", "thumbor", path], environment: environment)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("https://new.example.com/image?url=https%3A%2F%2Fmy.server.com%2F"))
        #expect(run.output.contains("&s=k1."))
        let wrong = try DarkroomProcess.run(["translate", "--compat", "thumbor", path + "x"], environment: environment)
        #expect(wrong.status == 1 && wrong.output == "\n" && !wrong.errors.contains("security"))
    }

    @Test func `Without a service there is nothing to translate`() throws {
        let run = try DarkroomProcess.run(["translate", "/unsafe/a.jpg"])
        #expect(run.status != 0 && run.errors.contains("--compat"))
    }
}
