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

    /// Throws where sources name each other wrongly, as far as that is known without a request.
    func checkSources(_ sources: SettingSources) throws(SettingError) {
        for source in self.sources.s3Sources {
            do throws(SettingError) {
                let store = try objectStore(of: source)
                do throws(ObjectStorageError) { try store.endpoint.check(source.bucket) } catch {
                    throw SettingError(
                        "'\(source.name)': with its store, the bucket's name must be part of a host name. Set "
                            + "s3-path-style=true, or use 3 to 63 lower-case letters, digits, '-' and '.'.")
                }
            } catch {
                throw SettingError("\(sources.spelling(of: \.sources.s3Sources)): \(error)")
            }
        }
    }
}
