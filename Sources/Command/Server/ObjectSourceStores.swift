import DarkroomObjectStorage
import DarkroomOrigin
import Foundation
import Logging
import NIOCore
import NIOPosix

/// The stores that sources are read from, each with its credentials.
struct ObjectSourceStores {
    /// What `s3://name/…` leads to.
    private(set) var sources: [ObjectSource] = []
    private var stores: [String: ObjectStore] = [:]
    private var credentials: [RenewingCredentials] = []

    init(
        _ settings: Settings, environment: [String: String] = ProcessInfo.processInfo.environment,
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger
    ) throws(SettingError) {
        let rows = Dictionary(grouping: settings.sources.s3Sources, by: \.name)
        for case (let name, let rows) in rows.sorted(by: { $0.key < $1.key }) {
            guard let first = rows.first else { continue }
            let storeName = first.store ?? ObjectStoreDefinition.defaultName
            if stores[storeName] == nil {
                let profile = settings.sources.s3Stores.first { $0.name == storeName }?.profile
                let credentials = RenewingCredentials(
                    environment: environment.selecting(profile: profile), eventLoopGroup: eventLoopGroup,
                    logger: logger)
                self.credentials.append(credentials)
                var limits = try settings.objectStore(of: first)
                limits.maxConnections = settings.origins.maxDownloads
                limits.connectTimeout = settings.origins.connectTimeout
                do throws(ObjectStorageError) {
                    stores[storeName] = try ObjectStore(
                        limits, credentials: credentials, eventLoopGroup: eventLoopGroup)
                } catch {
                    throw SettingError("\(SettingsTable.all.sources.s3Sources.name): \(error)")
                }
            }
            guard let store = stores[storeName] else { continue }
            sources.append(
                ObjectSource(
                    name: name, storeName: storeName, store: store, bucket: first.bucket, prefixes: rows.map(\.prefix)))
        }
    }

    /// Ends all operations and connections.
    func shutdown() async {
        for store in stores.values { await store.shutdown() }
        for credentials in credentials { await credentials.shutdown() }
    }
}

extension [String: String] {
    /// The variables with which the AWS tools use a profile of the shared files.
    fileprivate func selecting(profile: String?) -> [String: String] {
        guard let profile else { return self }
        var variables = self
        // Keys in the environment would take precedence.
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] { variables[name] = nil }
        variables["AWS_PROFILE"] = profile
        return variables
    }
}
