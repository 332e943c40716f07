import Origin
import Transforms
import Web

extension Settings {
    /// What the HTTP shell is told.
    ///
    /// - Parameter connections: the settings' own, or less where the system does not allow them.
    func webConfiguration(connections: ConnectionLimits) -> WebConfiguration {
        WebConfiguration(
            host: host, port: port, adminHost: adminHost, adminPort: adminPort, variantMaxAge: variantMaxAge,
            allowLongerMaxAge: allowLongerMaxAge, allowForcedRefresh: allowForcedRefresh, allowGPS: allowGPS,
            adminToken: adminToken, fallbackStatus: fallbackStatus, publicURL: publicURL,
            viaPseudonym: GuardedHTTPClient.Settings().viaPseudonym,
            limits: GrammarLimits(
                maxOutputSide: limits.maxOutputSide, maxFrames: limits.maxFrames, defaultResampling: resampling),
            maxSourceBytes: maxSourceBytes, trustedProxies: trustedProxies, rateLimit: rateLimit,
            connections: connections)
    }
}
