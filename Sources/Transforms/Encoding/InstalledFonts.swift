import DarkroomVips

/// The fonts of this machine, by the scripts that texts can be written in.
public struct InstalledFonts: Sendable {
    /// The scripts whose characters no font has, such as `Korean`; `emoji` counts as one.
    public let missing: [String]
    /// The packages of Debian and Ubuntu that have fonts for them.
    public let packages: [String]

    /// The fonts of this machine. Starts no thread. Without fontconfig nothing counts as missing.
    public static var current: InstalledFonts {
        let found = VipsText.fontsHave(scripts.map(\.character))
        return InstalledFonts { index in found?[index] ?? true }
    }

    /// - Parameter has: whether a font has the character of the script at this index.
    init(has: (Int) -> Bool) {
        let missing = Self.scripts.indices.filter { !has($0) }.map { Self.scripts[$0] }
        self.missing = missing.map(\.name)
        packages = Array(Set(missing.map(\.package))).sorted()
    }

    /// Scripts by a character that every font for them has.
    static let scripts: [(name: String, character: Unicode.Scalar, package: String)] =
        [
            ("Latin", "A"), ("Greek", "α"), ("Cyrillic", "я"), ("Armenian", "ա"), ("Georgian", "ა"), ("Hebrew", "א"),
            ("Arabic", "ع"), ("Ethiopic", "አ"), ("Devanagari", "क"), ("Bengali", "ক"), ("Gurmukhi", "ਕ"),
            ("Gujarati", "ક"), ("Odia", "କ"), ("Tamil", "க"), ("Telugu", "క"), ("Kannada", "ಕ"), ("Malayalam", "ക"),
            ("Sinhala", "ක"), ("Thai", "ก"), ("Lao", "ກ"), ("Burmese", "က"), ("Khmer", "ក"), ("Tibetan", "ཀ"),
        ].map { ($0, $1, "fonts-noto-core") }
        + [("Chinese", "国"), ("Japanese", "の"), ("Korean", "한")].map { ($0, $1, "fonts-noto-cjk") }
        + [("emoji", "😀", "fonts-noto-color-emoji")]
}
