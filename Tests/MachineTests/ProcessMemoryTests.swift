import Foundation
import Testing

@testable import DarkroomMachine

@Suite struct ProcessMemoryTests {
    @Test func `The first two numbers are the pages that are mapped and resident`() {
        let memory = ProcessMemory(statm: "500 30 20 1 0 40 0\n")
        #expect(memory?.mappedBytes == 500 * Int(getpagesize()))
        #expect(memory?.residentBytes == 30 * Int(getpagesize()))
    }

    @Test(arguments: ["", "\n", "500", "x 30", "500 x", "-1 30", "500 9223372036854775807"])
    func `A malformed file has no figures`(text: String) {
        #expect(ProcessMemory(statm: text) == nil)
    }

    #if os(Linux)
        @Test func `This process has memory, the same by its identifier`() throws {
            let memory = try #require(ProcessMemory.current)
            #expect(memory.residentBytes > 1 << 20)
            #expect(memory.mappedBytes >= memory.residentBytes)
            let same = try #require(ProcessMemory.ofProcess(getpid()))
            // Other tests take and free memory at the same time.
            #expect(abs(same.residentBytes - memory.residentBytes) < 512 << 20)
        }

        @Test func `A process that doesn't exist has none`() {
            #expect(ProcessMemory.ofProcess(0) == nil)
        }
    #endif

    @Test func `An opened file is one descriptor more`() throws {
        let before = try #require(FileDescriptors.openCount)
        let descriptors = (0..<200).map { _ in open("/dev/null", O_RDONLY) }
        defer { for descriptor in descriptors { close(descriptor) } }
        let after = try #require(FileDescriptors.openCount)
        // Other tests open and close files at the same time.
        #expect((100...300).contains(after - before))
    }
}
