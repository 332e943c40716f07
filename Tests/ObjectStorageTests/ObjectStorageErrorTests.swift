import Testing

@testable import DarkroomObjectStorage

struct ObjectStorageErrorTests {
    static let errors: [ObjectStorageError] =
        [
            .notFound, .noSuchBucket, .slowDown, .canceled,
            .forbidden(code: nil), .forbidden(code: S3ErrorCode("AccessDenied")), .notS3(status: 200),
            .unavailable(status: 500, code: nil), .refused(status: 400, code: S3ErrorCode("InvalidArgument")),
            .redirected(region: nil), .redirected(region: "eu-west-1"), .tooLarge(limitBytes: 9),
        ] + [.bucket, .key, .endpoint, .region].map { .invalidRequest($0) }
        + [.credentials, .response, .body, .pause].map { .timedOut($0) }
        + [.dns, .refused, .connect, .tls, .certificate, .reset, .incomplete, .malformed].map { .unreachable($0) }
        + CredentialsSource.allCases.flatMap { source -> [CredentialsError] in
            [
                .incomplete(source), .unreadable(source, path: "/p"), .malformed(source),
                .refused(source, status: 403), .unreachable(source),
            ]
        }.map { .credentials($0) }
        + [.notFound, .profileNotFound("p"), .endpointNotAllowed, .canceled].map { .credentials($0) }

    @Test func `Descriptions are different sentences`() {
        let descriptions = Self.errors.map(\.description)
        #expect(Set(descriptions).count == descriptions.count)
        for text in descriptions {
            #expect(text.first?.isUppercase == true, "\(text)")
            #expect(text.hasSuffix("."), "\(text)")
            #expect(!text.contains("Optional"), "\(text)")
        }
    }
}
