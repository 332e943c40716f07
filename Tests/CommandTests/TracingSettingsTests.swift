import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCommand

struct TracingSettingsTests {
    private func fields(_ settings: Settings) -> [String] {
        settings.tracing.headers.map { "\($0.name.rawName): \($0.value)" }
    }

    @Test func `Header fields are pairs with percent-encoded values, or a map of plain values`() throws {
        let expected = ["Authorization: Bearer a,b", "x-key: c=="]
        #expect(
            try fields(.reading(["otlp-headers": "Authorization=Bearer%20a%2Cb, x-key=c=="])) == expected)
        let file = "otlp-headers:\n  - Authorization: Bearer a,b\n  - x-key: c==\n"
        #expect(try fields(.reading(file: file)) == expected)
        #expect(try fields(.reading()).isEmpty)
    }

    @Test(arguments: ["secret", "=secret", "a b=secret", "a=secret%0d%0ax: y", "a=secret%zz"])
    func `A malformed header field is refused without repeating it`(text: String) throws {
        let refusal = try Settings.refusal(["otlp-headers": text])
        #expect(refusal.hasPrefix("--otlp-headers must be NAME=VALUE"))
        #expect(!refusal.contains("secret"))
    }

    @Test func `Header fields are masked`() throws {
        let sources = try SettingSources(flags: ["otlp-headers": "a=secret"], environment: [:], file: nil)
        let report = SettingsReport(settings: try Settings(sources), sources: sources).text
        #expect(report.contains("otlp-headers: \"********\""))
        #expect(!report.contains("secret"))
    }

    @Test(arguments: [("0", 0.0), ("1", 1), ("0.01", 0.01), ("5e-05", 0.00005)])
    func `A ratio is a number from 0 to 1`(text: String, ratio: Double) throws {
        let settings = try Settings.reading(["otlp-sample-ratio": text])
        #expect(settings.tracing.sampleRatio == ratio)
        #expect(SettingsTable.all.tracing.sampleRatio.text(of: ratio) == text)
    }

    @Test(arguments: ["1.1", "-0.1", "5%", "nan", "0x1", "", "١"])
    func `Anything else is refused`(text: String) throws {
        #expect(try Settings.refusal(["otlp-sample-ratio": text]).contains("must be a number from 0 to 1"))
    }

    @Test(arguments: ["collector:4318", "grpc://collector:4317", "http://user@collector", "http://collector/?a=b"])
    func `An endpoint is a base URL without credentials`(text: String) throws {
        #expect(try Settings.refusal(["otlp-endpoint": text]).contains("absolute http or https URL"))
    }

    @Test func `An endpoint may be private, and have a path`() throws {
        #expect(
            try Settings.reading(["otlp-endpoint": "http://10.0.0.7:4318/otlp/"]).tracing.endpoint
                == "http://10.0.0.7:4318/otlp")
    }
}
