import Crypto
import DarkroomVips

/// Names the encoders of this process: libvips, the codec libraries it loaded, and our own defaults.
///
/// It is part of every variant key, so that after an upgrade no variant of the old encoders is served.
public enum EncoderEpoch {
    /// Sixteen hexadecimal digits, the same for the life of the process.
    public static let current: String = {
        let parts = [VipsRuntime.version, Encoder.defaultsRevision] + VipsRuntime.codecs.map(\.description)
        let digest = SHA256.hash(data: Array(parts.joined(separator: "\n").utf8))
        return String(digest.description.suffix(64).prefix(16))
    }()
}
