/// Labels below which registries of countries register names: `co` in `example.co.uk`.
private let registryLabels: Set<Substring> = [
    "ac", "ad", "co", "com", "ed", "edu", "go", "gob", "gouv", "gov", "gr", "lg", "ltd", "me", "mil", "ne", "net",
    "nic",
    "nom", "or", "org", "plc", "sch",
]

/// The part of a host name that one owner has registered, and whose name servers thus answer for the whole name.
///
/// An approximation without the Public Suffix List: the last two labels, or the last three if the last label names a
/// country (two letters) and the label before it is common among registries, such as `co`, `com` and `org`. Names below
/// other public suffixes, such as `github.io`, count as one domain. A name of one label is a domain of its own.
///
/// - Parameter name: in its canonical spelling, as in ``SourceURL``. A dot at its end is ignored.
func registeredDomain(of name: String) -> String {
    let labels = name.split(separator: ".")
    let isBelowRegistry =
        labels.count > 2 && labels[labels.count - 1].utf8.count == 2
        && registryLabels.contains(labels[labels.count - 2])
    return labels.suffix(isBelowRegistry ? 3 : 2).joined(separator: ".")
}
