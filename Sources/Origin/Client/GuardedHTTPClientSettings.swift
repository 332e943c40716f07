public import DarkroomNetwork

extension GuardedHTTPClient {
    /// The limits and request fields of a ``GuardedHTTPClient``. Every default is safe for untrusted sources.
    public struct Settings: Sendable {
        /// The hosts and ports that may be asked. Default: any host, ports 80 and 443.
        public var hosts = HostPolicy()
        /// Sources whose hosts and ports need not be in ``hosts``. Default: none.
        package var mappedSources = SourceMap()
        /// The addresses that may be connected to. Default: public addresses only.
        public var addresses = AddressPolicy()
        /// The largest body in bytes, counted as it arrives, at most 4 GiB - 1. Default: 50 MiB.
        public var maxSourceBytes = 50 << 20
        /// The number of redirects followed per download. Default: 5.
        public var maxRedirects = 5
        /// The time limit for one TCP connection and its TLS handshake, per address tried. Default: 5 s.
        public var connectTimeout = Duration.seconds(5)
        /// The time limit for a download: waiting for a slot, lookups, redirects, retries and the whole body. Default:
        /// 15 s.
        public var downloadTimeout = Duration.seconds(15)
        /// Concurrent downloads from one host. Default: 6.
        public var downloadsPerHost = 6
        /// Concurrent downloads from all hosts. Default: 64.
        public var maxDownloads = 64
        /// The byte budget of running downloads and of finished ones whose bytes are still in use. Downloads that do
        /// not fit wait; a single download may exceed it. Default: 512 MiB.
        public var maxInFlightBytes = 512 << 20
        /// The order of waiting downloads of equal priority. Default: first in, first out.
        public var downloadOrder = DownloadOrder.fifo
        /// Patterns, as in ``HostPolicy/allowHosts``, of hosts whose TLS certificates are not verified. Anyone on the
        /// network path can impersonate these hosts. Default: none.
        public var insecureTLSHosts: [String] = []
        /// The `User-Agent` of requests that set none.
        public var userAgent = "darkroom"
        /// Our name in `Via` (RFC 9110 §7.6.3): a token, by which a server recognizes its own requests.
        public var viaPseudonym = "darkroom"

        /// Settings with all defaults.
        public init() {}
    }
}
