import Foundation

/// What describes this process to a collector (OpenTelemetry: resource).
package struct TelemetryResource: Sendable {
    let version: String
    /// Names and values, in alphabetical order.
    let attributes: [(name: String, value: String)]

    /// The resource of this process.
    ///
    /// `OTEL_RESOURCE_ATTRIBUTES` adds or replaces attributes and `OTEL_SERVICE_NAME` the name of the service, as
    /// OpenTelemetry's specification of environment variables says. Attributes that cannot be read are ignored
    /// altogether. The instance distinguishes this process from others of the service.
    package init(
        version: String, environment: [String: String], host: String = ProcessInfo.processInfo.hostName,
        instance: String = UUID().uuidString.lowercased()
    ) {
        var attributes = [
            "service.name": "darkroom", "service.version": version, "service.instance.id": instance, "host.name": host,
        ]
        let given = environment["OTEL_RESOURCE_ATTRIBUTES"].flatMap(Self.attributes) ?? [:]
        attributes.merge(given) { $1 }
        if let name = environment["OTEL_SERVICE_NAME"], !name.isEmpty { attributes["service.name"] = name }
        // These state what wrote the spans, so they cannot be replaced.
        attributes["telemetry.sdk.name"] = "darkroom"
        attributes["telemetry.sdk.language"] = "swift"
        attributes["telemetry.sdk.version"] = version
        self.version = version
        self.attributes = attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Reads `name=value` pairs with percent-encoding, separated by commas; nil if one of them is malformed.
    private static func attributes(in text: String) -> [String: String]? {
        var attributes: [String: String] = [:]
        for member in text.split(separator: ",") {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces).removingPercentEncoding
            }
            guard parts.count == 2, let name = parts[0], let value = parts[1], !name.isEmpty else { return nil }
            attributes[name] = value
        }
        return attributes
    }
}
