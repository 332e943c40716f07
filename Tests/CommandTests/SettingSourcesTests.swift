import ArgumentParser
import DarkroomPipeline
import DarkroomWeb
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomHTTPServer
@testable import DarkroomQuery

/// Flags, environment and YAML file.
struct SettingSourcesTests {
    @Test func `A flag takes precedence over the environment, and the environment over the file`() throws {
        let file = "port: 3\nqueue-depth: 3\nmax-downloads: 63\n"
        let environment = ["DARKROOM_PORT": "2", "DARKROOM_QUEUE_DEPTH": "2"]
        let settings = try Settings.reading(["port": "1"], environment: environment, file: file)
        #expect(settings.listeners.port == 1)
        #expect(settings.processing.queueDepth == 2)
        #expect(settings.origins.maxDownloads == 63)
        #expect(settings.origins.downloadsPerHost == 6)
    }

    @Test func `Lists are comma-separated or YAML lists`() throws {
        let commas = try Settings.reading(["allow-hosts": "a.org, *.b.org", "allow-ports": "80,8080"])
        let sequence = try Settings.reading(file: "allow-hosts: [a.org, '*.b.org']\nallow-ports:\n  - 80\n  - 8080\n")
        #expect(commas.origins.allowHosts == ["a.org", "*.b.org"])
        #expect(sequence.origins.allowHosts == commas.origins.allowHosts)
        #expect(sequence.origins.allowPorts == [80, 8080])
        #expect(try Settings.reading(file: "allow-hosts: [a.org]\n").origins.allowHosts == ["a.org"])
        #expect(try Settings.reading(file: "# nothing but a comment\n").origins.allowHosts.isEmpty)
    }

    @Test func `Rules for the cache key may list several parameters`() throws {
        let settings = try Settings.reading(["cache-key-drop-query": "*.a.org=utm_*,token,b.org=*"])
        #expect(
            settings.cache.keyDropQuery == [
                .init(hostPattern: "*.a.org", parameterPatterns: ["utm_*", "token"]),
                .init(hostPattern: "b.org", parameterPatterns: ["*"]),
            ])
    }

    @Test(arguments: [
        ("https://example.com/", "; write 'example.com'"), ("example.com:8080", "; write 'example.com'"),
        (".example.com", "; write '*.example.com'"), ("a.b/c", "; write 'a.b'"), ("s3://media/", ""), ("bü*.de", ""),
    ])
    func `A pattern that matches no host is refused by each setting, with the form that was meant`(
        pattern: String, remedy: String
    ) throws {
        let form = "a host name without scheme, port and path, with * and ? as wildcards"
        for name in ["allow-hosts", "insecure-tls-hosts"] {
            let sentence = try Settings.refusal(file: "port: 1\n\(name): [b.org, '\(pattern)']\n")
            #expect(sentence.hasSuffix("darkroom.yaml:2: \(name) must be \(form), got '\(pattern)'\(remedy)."))
        }
        for rules in ["['\(pattern)=token']", "{'\(pattern)': token}"] {
            let sentence = try Settings.refusal(file: "cache-key-drop-query: \(rules)\n")
            #expect(sentence.contains("cache-key-drop-query must be rules whose host is \(form), got '\(pattern)'"))
            #expect(sentence.hasSuffix("\(remedy)."))
        }
        let secret = "0123456789abcdef0123456789-secret"
        let key = try Settings.refusal(file: "signing-keys: {k1: {secret: \(secret), hosts: [b.org, '\(pattern)']}}\n")
        #expect(
            key.contains("signing-keys.k1.hosts[1] must be \(form), or s3:// and a bucket's name\(remedy)."), "\(key)")
        #expect(!key.contains(secret))
    }

    @Test func `Patterns of hosts have one spelling`() throws {
        let settings = try Settings.reading(["allow-hosts": "EXAMPLE.com.,*.bücher.de,[2001:DB8::7]"])
        #expect(settings.origins.allowHosts == ["example.com", "*.xn--bcher-kva.de", "2001:db8::7"])
        let network = try Settings.refusal(["allow-hosts": "10.0.0.0/8"])
        #expect(network.hasSuffix(", got '10.0.0.0/8'; networks belong in allow-networks."), "\(network)")
        let secret = "0123456789abcdef0123456789-secret"
        let keys = "{k1: {secret: \(secret), hosts: ['s3://Media', 's3://*', '*', 'B.org']}}"
        let key = try #require(Settings.reading(file: "signing-keys: \(keys)\n").accessRules.signingKeys.first)
        #expect(key.hosts == ["s3://media", "s3://*", "*", "b.org"])
    }

    @Test func `An unknown key is refused with the nearest setting, wherever it is given`() throws {
        let file = try Settings.refusal(file: "port: 1\nmax-source-byte: 5\n")
        #expect(file.hasSuffix("darkroom.yaml:2: 'max-source-byte' is not a setting. Did you mean max-source-bytes?"))
        let variable = try Settings.refusal(environment: ["DARKROOM_PROT": "5"])
        #expect(variable == "DARKROOM_PROT is not a setting. Did you mean DARKROOM_PORT?")
        let distant = try Settings.refusal(environment: ["DARKROOM_SOMETHING_ELSE": "5"])
        #expect(distant == "DARKROOM_SOMETHING_ELSE is not a setting. 'darkroom serve --help' lists all settings.")
    }

    @Test(arguments: [
        (["--prot", "1"], "Unknown option '--prot'. Did you mean --port?"), (["--port"], "Missing value for '--port'."),
        (["--port", "--host"], "Missing value for '--port'."), (["port"], "Unexpected argument 'port'."),
        (["--", "--port"], "Unknown option '--'. 'darkroom serve --help' lists all settings."),
    ])
    func `A flag that is none is refused with the nearest one`(arguments: [String], sentence: String) {
        let error = #expect(throws: ValidationError.self) { _ = try SettingFlags(arguments) }
        #expect(error?.message == sentence)
    }

    @Test func `Flags take their value from the next argument or after an equals sign, and the last one counts`() throws
    {
        let flags = try SettingFlags(["--port", "1", "--presets=a=w=1", "--config", "f.yaml", "--port=-1", "--host="])
        #expect(flags.values == ["port": "-1", "presets": "a=w=1", "host": ""])
        #expect(flags.config == "f.yaml")
    }

    @Test func `A file that is missing or not a mapping is refused`() throws {
        #expect(throws: SettingError("--config: /no/such/file.yaml is missing, unreadable or not UTF-8 text.")) {
            _ = try SettingSources(flags: [:], environment: [:], file: "/no/such/file.yaml")
        }
        #expect(try Settings.refusal(file: "- just\n- a list\n").hasPrefix("--config: "))
        #expect(try Settings.refusal(file: "just text\n").contains("must be a YAML mapping"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `A file whose aliases stand for too many values is refused at once`() throws {
        let lines = (1...9).map { level in
            let item = level == 1 ? "x" : "*a\(level - 1)"
            return "a\(level): &a\(level) [\(Array(repeating: item, count: 9).joined(separator: ", "))]\n"
        }
        let sentence = try Settings.refusal(file: lines.joined() + "allow-hosts: *a9\n")
        #expect(sentence.contains("darkroom.yaml has more than 100,000 values"), "\(sentence)")
        let brackets = (String(repeating: "[", count: 100), String(repeating: "]", count: 100))
        let deep = try Settings.refusal(file: "allow-hosts: \(brackets.0)\(brackets.1)\n")
        #expect(deep.contains("darkroom.yaml has values more than 64 levels deep"), "\(deep)")
        let presets = try Settings.reading(file: "presets: {a: &size {w: 9}, b: *size}\n").accessRules.presets
        #expect(presets.names == ["a", "b"])
    }

    @Test(arguments: [
        ("port: 1\nhost: [a\n", "darkroom.yaml:3:1 is not valid YAML: did not find expected ',' or ']'."),
        ("port: 1\n\tsigning-keys: hidden-text\n", "darkroom.yaml:2:1 is not valid YAML: "),
        ("host: a\n  port: hidden-text\n", "darkroom.yaml:2:7 is not valid YAML: mapping values are not allowed"),
        ("host: 'hidden-text\n", "darkroom.yaml:2:1 is not valid YAML: found unexpected end of stream."),
        ("host: a\nport: 1\nport: 2\n", "darkroom.yaml:3:1 is not valid YAML: the key 'port' is given twice."),
        (
            "presets:\n  a: w=1\n  b: w=1\n  a: w=2\n",
            "darkroom.yaml:4:3 is not valid YAML: the key 'a' is given twice."
        ),
        ("port:\n", "darkroom.yaml:1: port has no value; remove the line or add a value."),
        ("# a comment\nport: [1, 2]\n", "darkroom.yaml:2: port must be an integer from 0 to 65535, got 'a list'."),
        (
            "formats: [avif, png]\n",
            "darkroom.yaml:1: formats must be one or more of avif, jxl and webp, each once, got 'avif,png'."
        ),
        ("signing-keys: {k1: hidden-text}\n", "darkroom.yaml:1: signing-keys.k1: the secret of a key must be"),
    ])
    func `A bad file is refused with line and reason, without its text`(text: String, words: String) throws {
        let sentence = try Settings.refusal(file: text)
        #expect(sentence.contains(words), "\(sentence)")
        #expect(!sentence.contains("hidden"))
    }

    @Test(arguments: [
        ("yes", true), ("on", true), ("True", true), ("true", true), ("no", false), ("off", false), ("FALSE", false),
    ])
    func `The file takes every boolean of YAML`(text: String, value: Bool) throws {
        #expect(try Settings.reading(file: "allow-gps: \(text)\n").access.allowGPS == value)
        #expect(try Settings.refusal(file: "allow-gps: '\(text)'\n").isEmpty == ["true"].contains(text))
    }

    @Test func `Presets may be a map of queries or of parameters, or a list of either form`() throws {
        let flag = try Settings.reading(["presets": "a=w=96&h=96,b=crop=0%2C0%2C9%2C9&flip=true"]).accessRules.presets
        for text in [
            "presets:\n  a: w=96&h=96\n  b: {crop: '0,0,9,9', flip: true}\n",
            "presets:\n  a:\n    w: 96\n    h: 96\n  b: crop=0,0,9,9&flip=true\n",
            "presets:\n  - a=w=96&h=96\n  - b: crop=0,0,9,9&flip=true\n",
        ] {
            #expect(try Settings.reading(file: text).accessRules.presets == flag, "\(text)")
        }
        for (text, words) in [
            ("presets: {a: {w: wide}}\n", "'w'"), ("presets: {a: [w=1]}\n", "a query or a map of parameters"),
            ("presets: {a: {w: [1]}}\n", "must be a text"), ("presets: [[a]]\n", "NAME=QUERY"),
        ] {
            let sentence = try Settings.refusal(file: text)
            #expect(sentence.contains("presets") && sentence.contains(words), "\(sentence)")
        }
    }

    @Test func `Signing keys may be a map of ids to secrets or members, or a list`() throws {
        let secret = "0123456789abcdef0123456789-secret"
        for text in [
            "{k1: \(secret), k2: {secret: \(secret), hosts: ['*.a.org'], presets: [a], rate: 20/s}}",
            "[k1:\(secret), {id: k2, secret: \(secret), hosts: ['*.a.org'], presets: [a], rate: 20/s}]",
        ] {
            let access = try Settings.reading(file: "presets: {a: w=1}\nsigning-keys: \(text)\n").accessRules
            let keys = access.signingKeys
            #expect(keys.map(\.id) == ["k1", "k2"])
            #expect(keys[0].hosts.isEmpty && keys[0].presets == nil)
            #expect(keys[1].hosts == ["*.a.org"] && keys[1].presets == ["a"])
            #expect(access.keyRates == ["k2": try #require(Rate("20/s"))])
        }
        for (text, words) in [
            ("{k1: {hosts: [a]}}", "signing-keys.k1: 'secret' is missing"),
            ("[{secret: \(secret)}]", "[0]: 'id' is missing"),
            ("{k1: {secret: \(secret), host: a}}", "'host' is not a member"), ("{k1: [\(secret)]}", "must be a map"),
            ("{k1: {secret: \(secret), presets: [b]}}", "no preset 'b'"),
            ("{k1: {secret: \(secret), rate: 2}}", "k1.rate"),
            ("{k1: {secret: \(secret), hosts: a.org}}", "k1.hosts must be a list"),
        ] {
            let sentence = try Settings.refusal(file: "signing-keys: \(text)\n")
            #expect(sentence.contains(words), "\(sentence)")
            #expect(!sentence.contains("0123"))
        }
    }

    @Test func `Rules for the cache key may be a map of host globs`() throws {
        let flag = try Settings.reading(["cache-key-drop-query": "*.a.org=utm_*,token,b.org=*"]).cache.keyDropQuery
        let text = "cache-key-drop-query:\n  '*.a.org': [utm_*, token]\n  b.org: '*'\n"
        #expect(try Settings.reading(file: text).cache.keyDropQuery == flag)
        #expect(try Settings.refusal(file: "cache-key-drop-query: {b.org: []}\n").contains("'b.org' needs"))
    }
}
