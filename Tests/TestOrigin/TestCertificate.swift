import NIOSSL

/// A certificate for `trusted.test` that nobody but itself vouches for, and its key; both are for tests only.
package enum TestCertificate {
    static func serverContext() throws -> NIOSSLContext {
        let certificate = try NIOSSLCertificate(bytes: Array(certificatePEM.utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
    }

    package static let certificatePEM = """
        -----BEGIN CERTIFICATE-----
        MIIBrjCCAVSgAwIBAgIURXEPxw3IBytomM+TagPLf2qSp9swCgYIKoZIzj0EAwIw
        HzEdMBsGA1UEAwwUZGFya3Jvb20gdGVzdCBvcmlnaW4wIBcNMjYxMTIxMDcwMTU5
        WhgPMjEyNjEwMjgwNzAxNTlaMB8xHTAbBgNVBAMMFGRhcmtyb29tIHRlc3Qgb3Jp
        Z2luMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1a77r6Kdx9XIGTSQFeNI2WIN
        5BJSICIfKlKwmYu+EH+vcCce48sIDwuQyH3+m4HDBTp3fkn0Q1ASpixfNgC3cqNs
        MGowHQYDVR0OBBYEFC0JIR7iE6ZyqyXIks5/kU6SPYBNMB8GA1UdIwQYMBaAFC0J
        IR7iE6ZyqyXIks5/kU6SPYBNMA8GA1UdEwEB/wQFMAMBAf8wFwYDVR0RBBAwDoIM
        dHJ1c3RlZC50ZXN0MAoGCCqGSM49BAMCA0gAMEUCIAKv4mcrlPxEzXABvIUYT/ue
        v1dql7kNMld451KoaXBsAiEA2kM3rov5PYpuZPqfNMA+MyrHxmNWjsTz3xY6TgKM
        KKE=
        -----END CERTIFICATE-----
        """

    private static let keyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwZVCNNYAk8O4fQ3w
        qOKEl61Xf8vln763G6HmmUNhE3qhRANCAATVrvuvop3H1cgZNJAV40jZYg3kElIg
        Ih8qUrCZi74Qf69wJx7jywgPC5DIff6bgcMFOnd+SfRDUBKmLF82ALdy
        -----END PRIVATE KEY-----
        """
}
