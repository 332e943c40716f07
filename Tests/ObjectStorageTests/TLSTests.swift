import DarkroomTestOrigin
import Foundation
import NIOPosix
import Testing

@testable import DarkroomObjectStorage

@Suite(.timeLimit(.minutes(5)))
struct TLSTests {
    /// Asks a stub with a certificate for `trusted.test` that is signed by itself.
    private func head(host: String, certificateAuthorities: String?) async throws {
        let origin = TestOrigin(tls: true) { _ in Reply.object("") }
        try await origin.start()
        var settings = ObjectStoreSettings(
            endpoint: try ObjectStoreEndpoint(parsing: "https://\(host):\(origin.port)"), region: "us-east-1")
        settings.certificateAuthorities = certificateAuthorities
        settings.retries.maxAttempts = 1
        let store = try ObjectStore(
            settings, credentials: StaticCredentials(.test), eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            addresses: [host: "127.0.0.1"])
        let result: Result<Void, ObjectStorageError>
        do throws(ObjectStorageError) {
            _ = try await store.head(ObjectName(bucket: BucketName("media"), key: ObjectKey("k")), within: .seconds(30))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await store.shutdown()
        try await origin.stop()
        try result.get()
    }

    /// Calls `body` with the path of a file with the stub's certificate.
    private func withCertificate(_ body: (String) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
        try TestCertificate.certificatePEM.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file.path)
    }

    @Test func `Authorities of the settings are trusted`() async throws {
        try await withCertificate { try await head(host: "trusted.test", certificateAuthorities: $0) }
    }

    @Test func `Others are not`() async throws {
        await #expect(throws: ObjectStorageError.unreachable(.certificate)) {
            try await head(host: "trusted.test", certificateAuthorities: nil)
        }
    }

    @Test func `Certificates are for their host only`() async throws {
        try await withCertificate { path in
            await #expect(throws: ObjectStorageError.unreachable(.certificate)) {
                try await head(host: "other.test", certificateAuthorities: path)
            }
        }
    }

    @Test(arguments: ["/missing", "/dev/null"])
    func `A file without certificates is reported`(path: String) async {
        await #expect(throws: ObjectStorageError.invalidRequest(.certificates)) {
            try await head(host: "trusted.test", certificateAuthorities: path)
        }
    }
}
