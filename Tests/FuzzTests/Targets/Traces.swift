import Testing

@testable import DarkroomTracing

extension FuzzTests {
    @Test func `Trace fields are passed on in a form that is read again`() {
        let seeds = [
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "1a@b=c , d=e",
        ]
        fuzzer.run("trace", seeds: seeds, words: ["00-", "=", "@", ","]) { input in
            let text = String(decoding: input, as: UTF8.self)
            if let parent = TraceParent(parsing: text) {
                try hold(TraceParent(parsing: parent.text) == parent, parent.text)
                try hold(
                    parent.child(isSampled: parent.isSampled).traceID == parent.traceID, "a child of another trace")
            }
            if let state = TraceState(parsing: text) {
                try hold(state.text.utf8.count <= 512, "\(state.text.utf8.count) bytes")
                try hold(TraceState(parsing: state.text) == state, state.text)
            }
        }
    }
}
