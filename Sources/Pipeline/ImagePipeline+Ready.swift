public import DarkroomOrigin
public import DarkroomStore
import NIOPosix

extension ImagePipeline {
    /// A pipeline that is ready for use. It downloads over HTTP and HTTPS from public addresses, and keeps what it makes in memory.
    ///
    /// Make one and keep it: its threads and caches are for all requests. They end with it.
    ///
    /// - Parameters:
    ///   - downloads: whom it may ask, and for how much. By default any host, at public addresses only.
    ///   - memoryBytes: the budget of the cache in memory. Default 256 MiB; 0 = none.
    ///   - disk: a second tier, for example a ``DiskStore``, which stays yours to close. By default there is none.
    ///   - delegate: what you decide. By default nothing.
    ///   - keyFilter: which addresses are the same picture. By default those that are spelled alike.
    public convenience init(
        configuration: PipelineConfiguration = PipelineConfiguration(),
        downloads: GuardedHTTPClient.Settings = GuardedHTTPClient.Settings(), memoryBytes: Int = 256 << 20,
        disk: (any Storing)? = nil, delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter()
    ) {
        self.init(
            configuration: configuration,
            origin: GuardedHTTPClient(settings: downloads, eventLoopGroup: MultiThreadedEventLoopGroup.singleton),
            memory: MemoryStore(budgetBytes: memoryBytes), disk: disk, delegate: delegate, keyFilter: keyFilter)
    }
}
