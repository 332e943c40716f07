import DarkroomNetwork
import DarkroomOrigin
import Foundation
import Testing

@testable import DarkroomCommand

struct SourceSettingsTests {
    private static let stores = "minio=http://minio:9000?region=eu-west-1&profile=m"

    @Test(
        arguments: [
            (["s3-sources": "media=media-bucket"], nil), (["s3-sources": "media-bucket"], "media-bucket=media-bucket"),
            (["s3-sources": "media-bucket/a/b/"], "media-bucket=media-bucket/a/b/"),
            (["s3-sources": "Media=bucket/A/"], "media=bucket/A/"),
            (["s3-sources": "a=bucket/x/,a=bucket/y/"], nil),
            (["s3-sources": "a=minio:bucket/x/", "s3-stores": stores], nil), (["s3-sources": "a=default:bucket"], nil),
        ] as [([String: String], String?)])
    func `Buckets have names prefixes and stores`(flags: [String: String], text: String?) throws {
        let settings = try Settings.reading(flags)
        let row = SettingsTable.all.sources.s3Sources
        #expect(row.text(in: settings.values) == text ?? flags["s3-sources"])
    }

    @Test func `Marks have names, and URLs that may begin with a short name`() throws {
        let map = ["source-map": "brand=https://a.org/brand/"]
        let flags = map.merging(["marks": "logo=brand:logo.png,seal=https://b.org/seal.svg"]) { first, _ in first }
        let settings = try Settings.reading(flags)
        #expect(settings.sourceNames.marks["logo"]?.url.canonical == "https://a.org/brand/logo.png")
        #expect(SettingsTable.all.sources.marks.text(in: settings.values) == flags["marks"])
        #expect(try settings.clientSettings.mappedSources.contains(SourceURL(parsing: "https://b.org/seal.svg")))
        for (marks, words) in [
            ("a=b:c", "mark 'a' must stand for"), ("a=https://a.org/x,a=https://a.org/y", "'a' is given twice"),
            ("a.b=https://a.org/x", "'a.b' must be named by"), ("a=local:///x", "set local-root too"),
            ("a=s3://media/x", "s3-sources does not allow"), ("a", "NAME=URL"),
        ] {
            let sentence = try Settings.refusal(["marks": marks])
            #expect(sentence.contains("marks") && sentence.contains(words), "\(sentence)")
        }
        #expect(try Settings.refusal(["marks": "logo=https://a.org/x", "presets": "p=mark=lgo"]).contains("'logo'"))
    }

    @Test func `Maps of a file and texts mean the same`() throws {
        let file = try Settings.reading(
            file: """
                local-root: /tmp
                s3-stores: { minio: "http://minio:9000?region=eu-west-1&profile=m" }
                s3-sources: { media: media-bucket/products/, old: "minio:old" }
                source-map:
                  shop: s3://media/products/shoes/
                  CDN: https://img.example.com/
                  pics: local:///photos/
                """)
        let text = try Settings.reading(environment: [
            "DARKROOM_LOCAL_ROOT": "/tmp", "DARKROOM_S3_STORES": "minio=http://minio:9000?profile=m&region=eu-west-1",
            "DARKROOM_S3_SOURCES": "media=media-bucket/products/, old=minio:old",
            "DARKROOM_SOURCE_MAP":
                "shop=s3://media/products/shoes/,cdn=https://img.example.com/,pics=local:///photos/",
        ])
        for row in SettingsTable.all.sources.rows { #expect(row.text(in: file.values) == row.text(in: text.values)) }
        #expect(file.sources.sourceMap.targets.count == 3)
    }

    @Test func `A base URL gets a final slash, and one that cannot precede paths stops the start`() throws {
        let setting = "compat-base-url"
        let settings = try Settings.reading([setting: "https://A.example/b"])
        #expect(settings.dialects.baseURL?.url.canonical == "https://a.example/b/")
        for url in [
            "https://secret.example/?x=", "https://me:secret@a.example/", "ftp://secret.example/", "secret.example",
            "https://secret.example/#", "/secret/",
        ] {
            let refusal = try Settings.refusal([setting: url])
            #expect(refusal.contains(setting) && refusal.contains("must be an http"), "\(refusal)")
            #expect(!refusal.contains("secret"))
        }
    }

    @Test(arguments: [
        ("s3-sources", "a=B!"), ("s3-sources", "a=ab"), ("s3-sources", "a=bucket/x"), ("s3-sources", "a=bucket/../"),
        ("s3-sources", "a=bucket/./"), ("s3-sources", "-a=bucket"), ("s3-sources", "a=bucket,a=other"),
        ("s3-sources", "a=none:bucket"), ("s3-sources", "a="), ("s3-sources", "=bucket"), ("s3-sources", ""),
        // Without path style, the name is part of a host name.
        ("s3-sources", "a=My_Bucket"), ("s3-stores", "minio"), ("s3-stores", "http://key:secret@minio:9000"),
        ("s3-stores", "http://key:secret@minio:9000?region=a"), ("s3-stores", "minio=http://key:secret@minio:9000"),
        ("s3-stores", "minio=http://minio:9000/secret"), ("s3-stores", "minio=http://minio:9000?secret=1"),
        ("s3-stores", "minio=http://minio?region=SECRET"), ("s3-stores", "minio=http://minio?profile="),
        ("s3-stores", "minio=secret"), ("s3-stores", "default=http://minio"), ("s3-stores", "a_b=http://minio"),
        ("s3-stores", "a=http://minio,A=http://minio"), ("s3-stores", "minio=s3://secret/a"),
        ("source-map", "shop"), ("source-map", "https=https://secret.example/"),
        ("source-map", "a=https://secret.example"),
        ("source-map", "a=https://me:secret@a.example/"), ("source-map", "a=s3://secret/"),
        ("source-map", "a=local:///photos/"), ("source-map", "https://secret.example/"),
        ("source-map", "a=https://a.example/,A=https://secret.example/"),
    ])
    func `What cannot work stops startup with the name of its setting and nothing private`(
        key: String, value: String
    ) throws {
        for sentence in [
            try Settings.refusal([key: value]), try Settings.refusal(environment: [variable(key): value]),
            try Settings.refusal(file: "\(key): \"\(value)\"\n"),
        ] {
            if value.isEmpty { continue }
            #expect(sentence.contains(key) || sentence.contains(variable(key)), "\(value)")
            #expect(!sentence.lowercased().contains("secret"), "\(sentence)")
        }
    }

    @Test func `A name below an allowed prefix is accepted, and one above it is not`() throws {
        let sources = ["s3-sources": "media=media-bucket/products/"]
        for (target, isAllowed) in [
            ("s3://media/products/", true), ("s3://media/products/shoes/", true), ("s3://media/", false),
            ("s3://media/product/", false), ("s3://other/products/", false),
        ] {
            let sentence = try Settings.refusal(sources.merging(["source-map": "shop=\(target)"]) { $1 })
            #expect(sentence.isEmpty == isAllowed, "\(target): \(sentence)")
        }
    }
}
