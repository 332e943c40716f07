import Testing

@testable import DarkroomMachine

@Suite struct ThreadStateTests {
    @Test(
        arguments: [
            ("7 (darkroom) S 1 7 7", "ep_poll", "darkroom S ep_poll"), ("8 (a (b) c) R 1", "0", "a (b) c R -"),
            ("9 () D 1", nil, " D -"), ("10 x S", nil, nil), ("", nil, nil), (")(", nil, nil), ("1 (a)", nil, nil),
        ] as [(String, String?, String?)])
    func `A thread has the name in parentheses, its state and where it waits`(
        statistics: String, waitsIn: String?, expected: String?
    ) {
        let thread = ThreadState(statistics: statistics, waitsIn: waitsIn)
        #expect(thread.map { "\($0.name) \($0.state) \($0.waitsIn ?? "-")" } == expected)
    }

    @Test func `Without files of the kernel there are no threads`() {
        #expect(ThreadState.all(root: "/no/such/root").isEmpty)
    }

    #if os(Linux)
        @Test func `This process has a thread that runs`() {
            let threads = ThreadState.all
            #expect(threads.contains { $0.state == "R" })
            #expect(threads.allSatisfy { !$0.name.isEmpty })
        }
    #endif
}
