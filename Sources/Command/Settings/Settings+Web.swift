import DarkroomOrigin
import DarkroomTransforms
import DarkroomWeb

extension Settings {
    /// What the HTTP shell is told.
    var webConfiguration: WebConfiguration {
        WebConfiguration(
            host: host, port: port, adminHost: adminHost, adminPort: adminPort, variantMaxAge: variantMaxAge,
            allowLongerMaxAge: allowLongerMaxAge, allowForcedRefresh: allowForcedRefresh, allowGPS: allowGPS,
            adminToken: adminToken, fallbackStatus: fallbackStatus, publicURL: publicURL,
            viaPseudonym: GuardedHTTPClient.Settings().viaPseudonym, limits: QueryLimits(limits, resampling),
            maxSourceBytes: maxSourceBytes, clientLimits: clientLimits, access: access)
    }
}
