import DarkroomDialects
import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomCommand

/// `darkroom import-settings`
struct ImportSettingsTests {
    @Test func `What is printed for imgproxy is a valid file of settings`() throws {
        let text = """
            IMGPROXY_BIND=:8080
            IMGPROXY_KEY=736563726574
            IMGPROXY_SALT=68656C6C6F
            IMGPROXY_TIMEOUT=10
            IMGPROXY_WORKERS=4
            IMGPROXY_MAX_CLIENTS=512
            IMGPROXY_MAX_SRC_RESOLUTION=200
            IMGPROXY_MAX_SRC_FILE_SIZE=10485760
            IMGPROXY_PATH_PREFIX=/images
            IMGPROXY_ALLOWED_SOURCES=https://*.example.com/a/,local://
            IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES=true
            IMGPROXY_QUALITY=75
            IMGPROXY_FORMAT_QUALITY=webp=70,avif=50
            IMGPROXY_AUTO_WEBP=true
            IMGPROXY_PRESETS=default=rt:fill,sharp=sharpen:0.7
            IMGPROXY_USE_LINEAR_COLORSPACE=true
            IMGPROXY_S3_ALLOWED_BUCKETS=media
            IMGPROXY_LOG_LEVEL=warn
            IMGPROXY_LOG_FORMAT=structured
            IMGPROXY_PROMETHEUS_BIND=:9000
            """
        let settings = try Settings.reading(file: ImportedSettings(text, of: .imgproxy).yaml)
        #expect(settings.pathDialect?.name == .imgproxy && settings.pathDialect?.requiresSignature == true)
        #expect(settings.listeners.basePath == "/images" && settings.origins.allowHosts == ["*.example.com"])
        #expect(settings.limits.maxSourcePixels == 200_000_000)
    }

    @Test func `The command reads a file, and names a file that it cannot read`() throws {
        let file = try URL.temporaryFile("imgproxy.env", "IMGPROXY_TTL=60\n")
        let run = try DarkroomProcess.run(["import-settings", "imgproxy", file.path])
        #expect(run.status == 0 && run.output.contains("variant-max-age: \"60s\""))
        let missing = try DarkroomProcess.run(["import-settings", "imagor", "/nowhere/imagor.env"])
        #expect(missing.status == 1 && missing.errors.hasPrefix("Error: /nowhere/imagor.env cannot be read: "))
    }

    @Test(arguments: [
        ("imgproxy-keys: \"xx:11\"", "imgproxy-keys"), ("imgproxy-presets: [\"a=nope:1\"]", "imgproxy-presets"),
        ("imgproxy-formats: [png]", "imgproxy-formats"),
    ])
    func `Invalid rules of imgproxy stop the start and name the key`(line: String, key: String) throws {
        let error = try #require(throws: SettingError.self) {
            try Settings.reading(file: "compat: imgproxy\n\(line)\n")
        }
        #expect("\(error)".contains(key) && !"\(error)".contains("xx"))
    }
}
