import DarkroomNetwork

extension SourceURL {
    /// Where an origin may send us from here: to a web URL, and not from https to http.
    func redirectTarget(_ location: String?) throws(OriginError) -> SourceURL {
        guard let location else { throw .badRedirect(.missingLocation) }
        guard let target = try? resolving(redirect: location), target.scheme != .local else {
            throw .badRedirect(.invalidLocation)
        }
        guard scheme != .https || target.scheme == .https else { throw .badRedirect(.downgrade) }
        return target
    }
}
