import DarkroomNetwork
import DarkroomOrigin
import NIOCore
import NIOPosix

/// Downloads what strangers name, from public addresses only and up to 5 MB.
func download(_ url: String, settings: GuardedHTTPClient.Settings = GuardedHTTPClient.Settings()) async throws
    -> ByteBuffer
{
    var settings = settings
    settings.maxSourceBytes = 5_000_000
    let client = GuardedHTTPClient(settings: settings, eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
    do {
        let response = try await client.fetch(OriginRequest(url: SourceURL(parsing: url)))
        await client.shutdown()
        return response.body
    } catch {
        await client.shutdown()
        throw error
    }
}
