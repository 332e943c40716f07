import DarkroomTestOrigin
import NIOPosix
import NIOSSL
import Testing

@testable import DarkroomObjectStorage

@Suite(.timeLimit(.minutes(5)))
struct TLSTests {
    /// Asks a stub with a certificate for `trusted.test` that is signed by itself.
    private func head(host: String, certificateAuthorities: [NIOSSLCertificate] = []) async throws {
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

    /// The stub's certificate.
    private func authorities() throws -> [NIOSSLCertificate] {
        try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificatePEM.utf8))
    }

    @Test func `Authorities of the settings are trusted`() async throws {
        try await head(host: "trusted.test", certificateAuthorities: authorities())
    }

    @Test func `Others are not`() async throws {
        await #expect(throws: ObjectStorageError.unreachable(.certificate)) {
            try await head(host: "trusted.test")
        }
    }

    @Test func `Certificates are for their host only`() async throws {
        let authorities = try authorities()
        await #expect(throws: ObjectStorageError.unreachable(.certificate)) {
            try await head(host: "other.test", certificateAuthorities: authorities)
        }
    }
}
