/// How to reach a store.
package struct ObjectStoreSettings: Sendable {
    /// Where the store answers.
    package var endpoint: ObjectStoreEndpoint
    /// The region that requests are signed for. Ceph accepts any, MinIO by default `us-east-1`, R2 requires `auto`.
    package var region: String
    /// A PEM file of certificate authorities to trust besides the system's.
    package var certificateAuthorities: String?
    /// The largest number of connections to a host. Further requests wait. Default: 64.
    package var maxConnections = 64
    /// The time to connect, TLS included. Default: 3 s.
    package var connectTimeout = Duration.seconds(3)
    /// How often and when failed requests are sent again.
    package var retries = RetryPolicy()

    /// A store with default limits.
    package init(endpoint: ObjectStoreEndpoint, region: String) {
        self.endpoint = endpoint
        self.region = region
    }
}
