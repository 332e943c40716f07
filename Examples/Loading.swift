import Darkroom
import Foundation

protocol Screen: Sendable {
    func show(_ image: Data) async
    func show(fraction: Double) async
}

func load(_ request: ImageRequest, from pipeline: ImagePipeline, onto screen: some Screen) async throws {
    let task = pipeline.imageTask(for: request)
    for await progress in task.progress { await screen.show(fraction: progress.fraction ?? 0) }
    try await screen.show(task.value.data)
}
