import Logging
import Testing

@testable import DarkroomCommand

struct DescriptorLimitTests {
    @Test(arguments: [(256, 64, 64), (1024, 256, 256), (32_768, 4096, 14_080), (1 << 20, 4096, 521_984)])
    func `Connections of two listeners leave descriptors for the memory tier and everything else`(
        count: Int, memoryFiles: Int, connections: Int
    ) {
        let limit = DescriptorLimit(count: count)
        #expect(limit.memoryFiles == memoryFiles)
        #expect(limit.connections(1_000_000, listeners: 2, logger: Logger(label: "test")) == connections)
        #expect(limit.connections(10, listeners: 2, logger: Logger(label: "test")) == 10)
    }
}
