/// A variable that Kubernetes sets in every pod for a Service of its namespace.
///
/// The variables of a Service named `darkroom` or `darkroom-…` have the prefix of settings, and `DARKROOM_PORT` even
/// the name of one. Only name and value together tell them apart:
/// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
enum ServiceLink {
    /// Whether the variable, which begins with `DARKROOM_`, is one that Kubernetes sets.
    static func isServiceLink(_ variable: String, value: String) -> Bool {
        let address = /[0-9a-fA-F:.]+/
        let number = /[0-9]{1,5}/
        let url = /(?:tcp|udp|sctp):\/\/[0-9a-fA-F:.\[\]]+:[0-9]{1,5}/
        let shapes: [(name: Regex<Substring>, value: Regex<Substring>)] = [
            (/DARKROOM_(?:[A-Z0-9_]+_)?SERVICE_HOST/, address),
            (/DARKROOM_(?:[A-Z0-9_]+_)?SERVICE_PORT(?:_[A-Z0-9_]+)?/, number),
            (/DARKROOM_(?:[A-Z0-9_]+_)?PORT/, url),
            (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)/, url),
            (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)_PROTO/, /tcp|udp|sctp/),
            (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)_PORT/, number),
            (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)_ADDR/, address),
        ]
        return shapes.contains { variable.wholeMatch(of: $0.name) != nil && value.wholeMatch(of: $0.value) != nil }
    }
}
