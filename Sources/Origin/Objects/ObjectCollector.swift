import DarkroomMachine
import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// Receives one object: decides by its attributes, counts its bytes while they arrive, and waits for the byte budget
/// before more of them are read.
final class ObjectCollector: Sendable {
    private struct State {
        var receivedAt = Date.distantPast
        var expectedBytes = 0
        var body = SharedBytesWriter()
        var reserved = ReservedSize()
        var refusal: OriginError?
    }

    private let state = Mutex(State())
    private let maxSourceBytes: Int
    private let reservation: ByteReservation
    private let phases: DownloadProgress
    private let eventLoop: any EventLoop
    private let onProgress: @Sendable (PartialOriginal) -> Void

    init(
        maxSourceBytes: Int, reservation: ByteReservation, phases: DownloadProgress, eventLoop: any EventLoop,
        onProgress: @escaping @Sendable (PartialOriginal) -> Void
    ) {
        self.maxSourceBytes = maxSourceBytes
        self.reservation = reservation
        self.phases = phases
        self.eventLoop = eventLoop
        self.onProgress = onProgress
    }

    /// Why the object is not received to its end, unless the store is the reason.
    var refusal: OriginError? { state.withLock(\.refusal) }

    @Sendable func receive(_ part: ObjectPart) async throws(ObjectStorageError) {
        switch part {
        case .attributes(let attributes): try await begin(attributes)
        case .bytes(let bytes): try await append(bytes)
        }
    }

    private func begin(_ attributes: ObjectAttributes) async throws(ObjectStorageError) {
        phases.enter(.body)
        let length = attributes.contentLength ?? 0
        state.withLock { state in
            state.receivedAt = Date()
            state.expectedBytes = length
            state.body = SharedBytesWriter(expectedBytes: length)
            if attributes.isEncoded { state.refusal = .unacceptableEncoding }
        }
        guard refusal == nil else { throw .canceled }
        try await reserve(length)
    }

    private func append(_ bytes: ByteBuffer) async throws(ObjectStorageError) {
        let partial = state.withLock { state in
            state.body.append(bytes)
            return PartialOriginal(
                receivedBytes: state.body.count, expectedBytes: state.expectedBytes > 0 ? state.expectedBytes : nil,
                bytes: state.body.prefix)
        }
        onProgress(partial)
        try await reserve(partial.receivedBytes)
    }

    private func reserve(_ bytes: Int) async throws(ObjectStorageError) {
        let size = state.withLock { $0.reserved.grow(to: bytes, received: $0.body.count, atMost: maxSourceBytes) }
        guard let size else { return }
        // A deadline that passes during this wait is not the store's fault.
        phases.enter(.waiting)
        do throws(CancellationError) {
            try await reservation.reserve(size, on: eventLoop)
        } catch {
            throw .canceled
        }
        phases.enter(.body)
    }

    /// The response with all that was received. Call it once.
    func response(
        from url: SourceURL, headers: HTTPFields, requestedAt: Date
    ) throws(OriginError) -> OriginResponse {
        let (body, receivedAt) = state.withLock { state in
            defer { state.body = SharedBytesWriter() }
            return (state.body, state.receivedAt)
        }
        guard body.count > 0 else { throw .emptyBody }
        reservation.finish(bytes: body.count)
        var response = OriginResponse(
            url: url, status: .ok, headers: headers, content: body.finish(), requestedAt: requestedAt,
            receivedAt: receivedAt)
        response.reservation = reservation
        return response
    }
}

extension ObjectAttributes {
    /// Whether the bytes have a content coding. `aws-chunked` is the coding of an upload. Some stores keep it as
    /// metadata although they have decoded the bytes.
    fileprivate var isEncoded: Bool {
        let codings = fields[fields: .contentEncoding].flatMap { $0.value.split(separator: ",") }
        return codings.contains { coding in
            !["identity", "aws-chunked", ""].contains(coding.lowercased().filter { $0 != " " && $0 != "\t" })
        }
    }
}
