import DarkroomRequests
import DarkroomTransforms
import Synchronization

/// The chains of the recipes that were asked for last: sites ask for many images by few recipes, and finding a chain
/// takes a tenth of the time of making it.
final class RecentChains: Sendable {
    private static let maxChains = 16

    private let limits: PixelLimits
    /// The latest first.
    private let chains = Mutex<[TransformChain]>([])

    /// - Parameter limits: see ``TransformChain/init(_:limits:)``.
    init(limits: PixelLimits) { self.limits = limits }

    /// The chain of a recipe.
    func chain(_ recipe: Recipe) -> TransformChain {
        // Texts of other bytes may be equal in Unicode, but not as drawn.
        guard !recipe.drawsText else { return TransformChain(recipe, limits: limits) }
        if let known = chains.withLock({ $0.first { $0.recipe == recipe } }) { return known }
        let chain = TransformChain(recipe, limits: limits)
        chains.withLock { chains in
            if chains.count == Self.maxChains { chains.removeLast() }
            chains.insert(chain, at: 0)
        }
        return chain
    }
}

extension Recipe {
    fileprivate var drawsText: Bool {
        text != nil || layers.contains { if case .text = $0.content { true } else { false } }
    }
}
