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
    /// Nil if the object has no content coding.
    private let decoder = Mutex<ContentDecoder?>(nil)
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
        case .bytes(let bytes): try await decode(bytes)
        }
    }

    private func begin(_ attributes: ObjectAttributes) async throws(ObjectStorageError) {
        phases.enter(.body)
        guard let codings = ContentCoding.list(attributes.fields[values: .contentEncoding]) else {
            try refuse(.unacceptableEncoding)
        }
        let length = codings.isEmpty ? attributes.contentLength ?? 0 : 0
        state.withLock { state in
            state.receivedAt = Date()
            state.expectedBytes = length
            state.body = SharedBytesWriter(expectedBytes: length)
        }
        if !codings.isEmpty { decoder.withLock { $0 = ContentDecoder(codings, maxBytes: maxSourceBytes) } }
        try await reserve(length)
    }

    private func refuse(_ error: OriginError) throws(ObjectStorageError) -> Never {
        state.withLock { $0.refusal = error }
        throw .canceled
    }

    private func decode(_ bytes: ByteBuffer) async throws(ObjectStorageError) {
        let isCoded = decoder.withLock { decoder in
            decoder?.append(bytes)
            return decoder != nil
        }
        guard isCoded else { return try await append(bytes) }
        while let piece = try nextPiece() {
            try await append(piece)
            // One piece after another, so that others are served in between.
            await Task.yield()
        }
    }

    private func nextPiece() throws(ObjectStorageError) -> ByteBuffer? {
        do throws(OriginError) {
            return try decoder.withLock { decoder throws(OriginError) in try decoder?.next() }
        } catch {
            try refuse(error)
        }
    }

    private func append(_ bytes: ByteBuffer) async throws(ObjectStorageError) {
        let partial = state.withLock { state in
            state.body.append(bytes)
            return PartialOriginal(
                receivedBytes: state.body.count, expectedBytes: state.expectedBytes > 0 ? state.expectedBytes : nil)
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
        guard decoder.withLock({ $0?.isComplete ?? true }) else { throw .unreachable(.incomplete) }
        reservation.finish(bytes: body.count)
        var response = OriginResponse(
            url: url, status: .ok, headers: headers, content: body.finish(), requestedAt: requestedAt,
            receivedAt: receivedAt)
        response.reservation = reservation
        return response
    }
}
