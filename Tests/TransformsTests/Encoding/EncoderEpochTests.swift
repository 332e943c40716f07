import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct EncoderEpochTests {
    @Test func `The epoch is sixteen hexadecimal digits and stays the same`() {
        #expect(EncoderEpoch.current.count == 16)
        #expect(EncoderEpoch.current.allSatisfy { $0.isHexDigit })
        #expect(EncoderEpoch.current == EncoderEpoch.current)
    }
}
