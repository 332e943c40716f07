import DarkroomRequests
import DarkroomTransforms
import Testing

@testable import DarkroomQuery

struct ParameterReferenceTests {
    @Test func `Every parameter is documented in one sentence`() {
        let parameters = ImageQueryGrammar().table.parameters
        for parameter in parameters {
            let summary = parameter.documentation.summary
            #expect(summary.hasSuffix("."), "\(parameter.name)")
            #expect((10...220).contains(summary.count), "\(parameter.name)")
        }
        #expect(Set(parameters.map(\.documentation.summary)).count == parameters.count)
    }

    @Test func `A parameter changes a step that exists`() {
        let transforms: [any Transform.Type] = [
            Blur.self, Border.self, Brightness.self, ColorConversion.self, ContainExtend.self, Contrast.self,
            CoverCrop.self, Crop.self, Duotone.self, Filter.self, Flatten.self, Flip.self, Flop.self, Gamma.self,
            Hue.self, Inset.self,
            LayoutResize.self, Lightness.self, Mark.self, Mask.self, Orient.self, Pad.self, Pixelate.self,
            Redaction.self, Resize.self,
            Rotate.self, Saturation.self, Sharpen.self, Text.self, Tint.self, Trim.self,
        ]
        let steps: [ParameterDocumentation.Step] = [.fetch, .decode, .encode, .cache, .respond]
        let names = Set(transforms.map { "\($0)" } + steps.map(\.name) + ["\(EffectStep.self)", "\(Layer.self)"])
        for parameter in ImageQueryGrammar().table.parameters {
            #expect(names.contains(parameter.documentation.step.name), "\(parameter.name)")
        }
    }
}
