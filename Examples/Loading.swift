import Darkroom
import Foundation

protocol Screen: Sendable {
    func show(_ image: Data) async
    func show(fraction: Double) async
}

func load(_ request: ImageRequest, from pipeline: ImagePipeline, onto screen: some Screen) async throws {
    let task = pipeline.imageTask(for: request, previews: true)
    for await event in task.events {
        switch event {
        case .progress(let progress): await screen.show(fraction: progress.fraction ?? 0)
        case .preview(let preview): await screen.show(preview.data)
        }
    }
    try await screen.show(task.value.data)
}
