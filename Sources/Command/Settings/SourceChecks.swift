import DarkroomNetwork
import DarkroomObjectStorage

extension Settings {
    /// How to reach the store of a source.
    func objectStore(of source: ObjectSourceDefinition) throws(SettingError) -> ObjectStoreSettings {
        guard let name = source.store, name != ObjectStoreDefinition.defaultName else { return try objectStore }
        guard let store = self.sources.s3Stores.first(where: { $0.name == name }) else {
            throw SettingError("'\(source.name)' is in the store '\(name.prefix(40))', which is not among s3-stores.")
        }
        return store.settings
    }

    /// The short names of sources, and the marks.
    var sourceNames: SourceMap {
        var map = self.sources.sourceMap
        // Marks were checked at start.
        for mark in self.sources.marks { try? map.addMark(mark.name, mark.source) }
        return map
    }

    /// Finds sources that name each other wrongly, as far as that is known without a request.
    func checkSources(_ sources: SettingSources, _ mistakes: inout SettingMistakes) {
        if self.objectStorage.sharedStore != nil {
            mistakes.collect { () throws(SettingError) in try objectStore }
        }
        for source in self.sources.s3Sources {
            do throws(SettingError) {
                let store = try objectStore(of: source)
                do throws(ObjectStorageError) { try store.endpoint.check(source.bucket) } catch {
                    throw SettingError(
                        "'\(source.name)': with its store, the bucket's name must be part of a host name. Set "
                            + "s3-path-style=true, or use 3 to 63 lower-case letters, digits, '-' and '.'.")
                }
            } catch {
                mistakes.add("\(sources.spelling(of: \.sources.s3Sources, for: "\(error)")): \(error)")
            }
        }
        var map = self.sources.sourceMap
        for mark in self.sources.marks {
            let reason: String
            do throws(SourceMap.Flaw) {
                try map.addMark(mark.name, mark.source)
                guard let flaw = map.marks[mark.name].flatMap({ reasonAgainst($0.url) }) else { continue }
                reason = "'\(mark.name)' \(flaw)"
            } catch { reason = "\(error)" }
            mistakes.add("\(sources.spelling(of: \.sources.marks, for: reason)): \(reason)")
        }
        for (name, target) in self.sources.sourceMap.targets.sorted(by: { $0.key < $1.key }) {
            guard let flaw = reasonAgainst(target.url) else { continue }
            let reason = "'\(name)' \(flaw)"
            mistakes.add("\(sources.spelling(of: \.sources.sourceMap, for: reason)): \(reason)")
        }
    }

    /// Why no source below a URL could be read, for any key or path.
    private func reasonAgainst(_ target: SourceURL) -> String? {
        switch target.scheme {
        case .http, .https, .upload, .color: return nil
        case .local: return self.origins.localRoot == nil ? "stands for local files; set local-root too." : nil
        case .s3:
            let prefix = target.objectKey ?? ""
            let isAllowed = self.sources.s3Sources.contains { source in
                source.name == target.host?.description && prefix.utf8.starts(with: source.prefix.utf8)
            }
            return isAllowed ? nil : "stands for keys that s3-sources does not allow."
        }
    }
}
