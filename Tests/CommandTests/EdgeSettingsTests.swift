import DarkroomEdgePurging
import DarkroomWeb
import Foundation
import Testing

@testable import DarkroomCommand

/// `response-tags` and `purge-to`.
struct EdgeSettingsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test func `Edges are read from text and from YAML`() throws {
        let token = try URL.temporaryFile("token", "token-1\n").path
        let hook = try URL.temporaryFile("secret", Self.secret).path
        let text = [
            "cloudflare=0123abcd;token-file=\(token)", "fastly=svc;token-file=\(token);api=http://proxy:8080/",
            "bunny=42;token-file=\(token)", "varnish=http://edge:6081/;method=BAN", "varnish=http://edge:6081/b",
            "nginx=http://edge/generation", "webhook=https://hooks.example/x?a=b;secret-file=\(hook)",
        ]
        let yaml = """
            response-tags: xkey
            purge-to:
              - cloudflare: 0123abcd
                token-file: \(token)
              - {fastly: svc, token-file: \(token), api: "http://proxy:8080/"}
              - {bunny: 42, token-file: \(token)}
              - {varnish: "http://edge:6081/", method: BAN}
              - varnish: http://edge:6081/b
              - nginx: http://edge/generation
              - {webhook: "https://hooks.example/x?a=b", secret-file: \(hook)}

            """
        let expected = [
            EdgeDestination(.cloudflare, account: "0123abcd", secretFile: token),
            EdgeDestination(.fastly, account: "svc", url: "http://proxy:8080", secretFile: token),
            EdgeDestination(.bunny, account: "42", secretFile: token),
            EdgeDestination(.varnish, url: "http://edge:6081/", bans: true),
            EdgeDestination(.varnish, url: "http://edge:6081/b", number: 2),
            EdgeDestination(.nginx, url: "http://edge/generation"),
            EdgeDestination(.webhook, url: "https://hooks.example/x?a=b", secretFile: hook),
        ]
        let fromText = try Settings.reading(["response-tags": "xkey", "purge-to": text.joined(separator: ",")])
        #expect(fromText.edges.purgeTo == expected)
        #expect(try Settings.reading(file: yaml).edges.purgeTo == expected)
        #expect(fromText.edges.purgeTo.map(\.name)[3...4] == ["varnish:edge:6081", "varnish:edge:6081#2"])
        #expect(try Settings.reading(["response-tags": "bunny"]).webConfiguration.responseTags == .bunny)
    }

    @Test(arguments: [
        ("", "needs token-file=PATH"), (";token-file=/nonexistent/token", "cannot be read"),
        (";api=x", "http or https URL"),
        (";token-file=/etc/hostname;nonsense=1", "does not take option 'nonsense'"),
        (";token-file=/etc/hostname;api=ftp://a/", "http or https URL"),
    ])
    func `A mistake stops the start and names the key`(options: String, words: String) throws {
        let refusal = try Settings.refusal(["response-tags": "fastly", "purge-to": "fastly=svc\(options)"])
        #expect(refusal.contains("--purge-to") && refusal.contains(words), "\(refusal)")
    }

    @Test(arguments: [
        "fastly", "nonsense=x", "varnish=edge", "varnish=http://user:pw-secret@edge/", "nginx=ftp://secret/",
        "varnish=http://a/;method=GET-secret", "fastly=../secret;token-file=/x",
        "webhook=http://a/#secret;secret-file=/x",
        "varnish=http://a/;nginx=http://secret/",
    ])
    func `What is refused is not repeated`(text: String) throws {
        let refusal = try Settings.refusal(["response-tags": "xkey", "purge-to": text])
        #expect(refusal.contains("--purge-to") && !refusal.contains("secret/") && !refusal.contains("pw-secret"))
    }

    @Test func `A bad token is refused without being repeated`() throws {
        for text in ["", "two words", "line\nbreak"] {
            let file = try URL.temporaryFile("token", text).path
            let refusal = try Settings.refusal(
                ["response-tags": "fastly", "purge-to": "fastly=svc;token-file=\(file)"])
            #expect(refusal.contains("--purge-to") && !refusal.contains("words") && !refusal.contains("break"))
        }
    }

    @Test func `An edge that purges by tags needs tags`() throws {
        #expect(try Settings.refusal(["purge-to": "varnish=http://edge/"]).contains("set response-tags"))
        #expect(try Settings.refusal(["purge-to": "nginx=http://edge/"]) == "")
    }

    @Test func `Edges are printed as set, since their URLs may be secret`() throws {
        let run = try DarkroomProcess.run(["config", "print", "--purge-to", "nginx=http://edge/secret"])
        #expect(run.status == 0 && !run.output.contains("edge/secret"), "\(run.output)")
    }
}
