import DarkroomRequests
import DarkroomTransforms
import Testing

@testable import DarkroomPipeline

@Suite struct RecentChainsTests {
    private static func recipe(_ number: Int) -> Recipe {
        var recipe = Recipe()
        recipe.rotationDegrees = Double(number)
        recipe.flip = number.isMultiple(of: 2)
        return recipe
    }

    @Test func `A recipe has the same chain, whatever was asked for before`() {
        let limits = PixelLimits()
        let chains = RecentChains(limits: limits)
        for number in Array(0..<20) + Array((0..<20).reversed()) + [7, 7, 3] {
            let recipe = Self.recipe(number)
            let chain = chains.chain(recipe)
            #expect(chain.key == TransformChain(recipe, limits: limits).key)
            #expect(chain.recipe == recipe)
        }
    }

    @Test(arguments: [false, true])
    func `A text keeps its bytes although an equal text was asked for before`(isLayer: Bool) {
        let chains = RecentChains(limits: PixelLimits())
        // A compatibility ideograph, and the one that it is equal to.
        for text in ["\u{FA19}", "\u{795E}"] {
            var recipe = Recipe()
            if isLayer {
                recipe.layers = [Layer("a", .text(TextBox(text)))]
            } else {
                recipe.text = Text(text)
            }
            let key = TransformChain(recipe, limits: PixelLimits()).key
            #expect(chains.chain(recipe).key.utf8.elementsEqual(key.utf8))
        }
    }
}
