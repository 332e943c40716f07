import NIOCore
import Testing

@testable import DarkroomObjectStorage

extension FuzzTests {
    @Test func `A document that was read has only text that can be written again`() {
        let words = ["<", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>", "&amp;", "&#x", ";", "<!DOCTYPE", "<?xml"]
        fuzzer.run("xml", seeds: Self.documents, words: words) { input in
            guard let root = try? XMLReader.root(of: input) else { return }
            guard let text = XMLText.escaped(root.text) else { return }
            let again = try? XMLReader.root(of: Array("<a>\(text)</a>".utf8))
            try hold(again?.text.utf8.elementsEqual(root.text.utf8) == true, "'\(root.text)' is written as '\(text)'")
        }
    }

    @Test func `A listing has only keys that can be asked for`() {
        let words = ["<Key>", "%2F", "+", "%", "<Size>", "true", "url", "</Contents><Contents>"]
        fuzzer.run("listing", seeds: Self.documents, words: words) { input in
            _ = S3ErrorDocument(input)
            guard let page = ListPage(ByteBuffer(bytes: input)) else { return }
            for key in page.keys { try hold((try? ObjectKey(key.description)) == key, key.description) }
        }
    }

    @Test func `Profiles are read from any text`() {
        let seeds = ["[default]\naws_access_key_id = A\naws_secret_access_key = s\n", "[profile a]\ns3 =\n  x = y\n"]
        fuzzer.run("profiles", seeds: seeds, words: ["[", "]", "=", "#", "\r\n", "default"]) { input in
            let sections = SharedCredentialsFiles.sections(String(decoding: input, as: UTF8.self))
            for name in sections.values.flatMap(\.keys) { try hold(!name.contains("="), name) }
        }
    }

    private static let documents = [
        """
        <?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken><EncodingType>url</EncodingType>
        <Contents><Key>a+%2F</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>&quot;e&quot;</ETag>
        <Size>1</Size></Contents></ListBucketResult>
        """,
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key><Size>9</Size></Contents></ListBucketResult>",
        "<Error><Code>NoSuchKey</Code><Message>m</Message><Region>eu-west-1</Region></Error>",
        "<a b='c'><!-- d --><![CDATA[<e>]]>&#233;&#x10FFFF;&lt;</a>",
    ]
}
