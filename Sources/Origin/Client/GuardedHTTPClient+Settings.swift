public import DarkroomNetwork

extension GuardedHTTPClient {
    /// The limits and manners of a ``GuardedHTTPClient``. Every default is safe towards hostile sources.
    public struct Settings: Sendable {
        /// Hosts and ports that may be asked. Default: any host, ports 80 and 443.
        public var hosts = HostPolicy()
        /// Addresses that may be connected to. Default: public ones only.
        public var addresses = AddressPolicy()
        /// The largest body in bytes, counted as it arrives. Default 50 MiB; values above 4 GiB - 1 mean that.
        public var maxSourceBytes = 50 << 20
        /// How many redirects are followed per download. Default 5.
        public var maxRedirects = 5
        /// For one TCP connection and its TLS handshake, per address tried. Default 5 s.
        public var connectTimeout = Duration.seconds(5)
        /// For everything: waiting for a slot, look-ups, redirects, retries and the whole body. Default 15 s.
        public var downloadTimeout = Duration.seconds(15)
        /// Downloads at a time from one host. Default 6.
        public var downloadsPerHost = 6
        /// Downloads at a time from all hosts. Default 64.
        public var maxDownloads = 64
        /// Bytes of all downloads under way together, with those that are whole but still worked with. What does not fit waits; one
        /// download alone may pass this bound. Default 512 MiB.
        public var maxInFlightBytes = 512 << 20
        /// Who goes first among waiting downloads of equal priority. Default: first come, first served.
        public var downloadOrder = DownloadOrder.fifo
        /// Hosts whose TLS certificates are not verified, by patterns as in ``HostPolicy/allowHosts``: whoever is on the
        /// way to them can send any picture. Default: none.
        public var insecureTLSHosts: [String] = []
        /// `User-Agent` of all requests that bring none of their own.
        public var userAgent = "darkroom"
        /// Who we are in `Via` (RFC 9110 §7.6.3): a token without spaces, by which a server recognises its own requests.
        public var viaPseudonym = "darkroom"

        /// All defaults.
        public init() {}
    }
}
