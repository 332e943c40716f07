import Testing

@testable import DarkroomDialects

struct ImportedSettingsTests {
    private func lines(_ text: String, _ service: ImportedSettings.Service = .imgproxy) -> [String] {
        ImportedSettings(text, of: service).yaml.split(separator: "\n").map(String.init)
    }

    @Test func `Lines of Docker and of shells are read, and comments are not`() {
        let lines = lines(
            "# IMGPROXY_BIND=:1\n\n  export IMGPROXY_BASE_URL='https://a.org/'\nIMGPROXY_TTL = \"60\" \nEMPTY=\n")
        #expect(lines.contains("compat-base-url: \"https://a.org/\"  # IMGPROXY_BASE_URL"))
        #expect(lines.contains("variant-max-age: \"60s\"  # IMGPROXY_TTL"))
        #expect(lines.count == 4)
    }

    @Test func `Keys and salts become pairs`() {
        let lines = lines("IMGPROXY_SALT=22,44\nIMGPROXY_KEY=11,33")
        #expect(lines.contains("imgproxy-keys: \"11:22,33:44\"  # IMGPROXY_KEY, IMGPROXY_SALT"))
    }

    @Test func `Defaults of options precede the preset that every path begins with`() {
        let lines = lines("IMGPROXY_PRESETS=default=w:5,a=h:6\nIMGPROXY_QUALITY=70\nIMGPROXY_AUTO_ROTATE=false")
        #expect(lines.contains { $0.hasPrefix("imgproxy-presets: \"default=fq:jpeg:70/ar:0/w:5,a=h:6\"") })
        #expect(self.lines("IMGPROXY_QUALITY=70").contains { $0.hasPrefix("imgproxy-presets: \"default=fq:jpeg:70\"") })
    }

    @Test func `Formats are in imgproxy's order of preference`() {
        let lines = lines("IMGPROXY_AUTO_WEBP=1\nIMGPROXY_ENFORCE_AVIF=true\nIMGPROXY_AUTO_JXL=false")
        #expect(lines.contains { $0.hasPrefix("imgproxy-formats: \"avif,webp\"") })
    }

    @Test func `A variable without a setting is a comment without its value`() {
        let lines = lines("IMGPROXY_SENTRY_DSN=https://secret@a.org\nIMGPROXY_NONSENSE=secret\nIMGPROXY_TTL=0")
        #expect(lines.contains("# IMGPROXY_SENTRY_DSN: Errors are logged."))
        #expect(lines.contains("# IMGPROXY_NONSENSE: There is no such setting."))
        #expect(lines.contains { $0.hasPrefix("# IMGPROXY_TTL: This value has no counterpart") })
        #expect(!lines.contains { $0.contains("secret") })
    }

    @Test func `Defaults that the server would refuse are lowered`() {
        let lines = lines("IMGPROXY_TIMEOUT=4")
        #expect(lines.contains { $0.hasPrefix("download-timeout: \"4s\"") })
        #expect(lines.contains { $0.hasPrefix("connect-timeout: \"4s\"") })
    }

    @Test func `Variables of imagor`() {
        let text = """
            PORT=8000
            IMAGOR_SECRET=mysecret
            IMAGOR_AUTO_WEBP=1
            IMAGOR_AUTO_AVIF=1
            IMAGOR_REQUEST_TIMEOUT=30s
            HTTP_LOADER_ALLOWED_SOURCES=*.a.org,b.org
            HTTP_LOADER_BASE_URL=https://a.org/x
            VIPS_MAX_WIDTH=5000
            VIPS_MAX_HEIGHT=6000
            GCLOUD_LOADER_BUCKET=x
            """
        let lines = lines(text, .imagor)
        #expect(lines.contains("compat: \"thumbor\"  # URLs of imagor"))
        for beginning in [
            "port: \"8000\"", "formats: \"avif,webp\"", "request-timeout: \"30s\"", "allow-hosts: \"*.a.org,b.org\"",
            "compat-base-url: \"https://a.org/x\"", "max-output-side: \"6000\"", "# GCLOUD_LOADER_BUCKET: ",
        ] {
            #expect(lines.contains { $0.hasPrefix(beginning) }, "\(beginning)")
        }
    }

    @Test func `Texts are quoted for YAML`() {
        #expect(lines("IMGPROXY_BASE_URL=a\"b\\c: #").contains { $0.hasPrefix(#"compat-base-url: "a\"b\\c: #""#) })
    }
}
