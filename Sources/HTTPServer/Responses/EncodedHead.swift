package import HTTPTypes
package import NIOCore

extension ByteBuffer {
    /// The head of a response as it is sent: the status line and the given fields, finished, without an empty line at
    /// the end, so that further fields can follow.
    package static func head(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, _ sharing: ReplySharing
    ) -> ByteBuffer {
        var fields = fields
        fields.finish(status, sharing)
        var head = ByteBuffer()
        head.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        head.write(fields)
        return head
    }

    /// Adds header fields, one line each.
    package mutating func write(_ fields: HTTPFields) {
        for field in fields {
            writeString(field.name.rawName)
            writeStaticString(": ")
            writeString(field.value)
            writeStaticString("\r\n")
        }
    }
}
