import Darkroom

struct MirrorFilter: CacheKeyFilter {
    func identity(of source: SourceURL) -> String {
        source.canonical.replacing(/:\/\/img[0-9]+\.example\.com/, with: "://img.example.com")
    }
}
