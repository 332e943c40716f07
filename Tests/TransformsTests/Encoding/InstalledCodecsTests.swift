import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct InstalledCodecsTests {
    private let codecs = InstalledCodecs.current

    @Test func `What can be read and written and what is missing are all formats`() {
        let missingDecoders = codecs.missing.filter { if case .decoder = $0 { true } else { false } }
        #expect(codecs.readable.count + missingDecoders.count == SourceFormat.allCases.count)
        #expect(codecs.writable.count + codecs.unwritable.count == OutputFormat.allCases.filter { !$0.isText }.count)
        #expect(codecs.missing.count == missingDecoders.count + codecs.unwritable.count)
    }

    @Test func `A machine set up for tests has all codecs, a vector unit and fonts`() {
        #expect(codecs.missing.isEmpty, "\(codecs.missing)")
        #expect(codecs.vectorUnit.hasPrefix("Orc") || codecs.vectorUnit.hasPrefix("Highway"))
        #expect(!InstalledCodecs.fontFamilies.isEmpty)
    }

    @Test func `An old or incomplete libvips is a fault that names its package, and a missing plug-in is none`() {
        func fault(
            _ version: String, without source: SourceFormat? = nil, _ output: OutputFormat? = nil
        ) -> String? {
            InstalledCodecs(
                libvips: version, vectorUnit: "Orc", codecs: [],
                readable: SourceFormat.allCases.filter { $0 != source },
                writable: OutputFormat.allCases.filter { !$0.isText && $0 != output }
            ).fault
        }
        for version in ["8.14.0", "8.14.1", "8.16.1", "8.100.0", "9.0.0"] { #expect(fault(version) == nil) }
        for version in ["8.9.3", "8.13.4", "7.42.1"] {
            #expect(fault(version)?.contains("8.14 or later (the package libvips42)") == true)
        }
        #expect(fault("8.16.1", without: .heic, .avif) == nil)
        #expect(fault("8.16.1", without: .jpeg)?.contains("jpeg decoder") == true)
        #expect(fault("8.16.1", without: nil, .png)?.contains("png encoder") == true)
    }

    @Test(arguments: SourceFormat.allCases)
    func `Every missing codec has a remedy`(_ format: SourceFormat) {
        #expect(MissingCodec.decoder(format).reason.contains(MissingCodec.decoder(format).remedy))
        #expect(MissingCodec.decoder(format).description == "\(format.rawValue) decoder")
    }
}
