import Dispatch
import Synchronization
import Testing

@testable import DarkroomVips

struct ThreadTests {
    @Test(.enabled(if: VipsRuntime.usesOrc))
    func `With Orc, threads take turns to build operations and free images, and compute pixels at any time`() throws {
        let source = try VipsImage.build("black", ["width": 600, "height": 600, "bands": 3]).rendered()
        let blurred = try source.applying("gaussblur", ["sigma": 9])
        let unused = Mutex<VipsImage?>(try source.applying("reducev", ["vshrink": 1.7]))
        let done = Mutex(0)
        let started = DispatchSemaphore(value: 0)
        let others = DispatchGroup()
        let works: [@Sendable () -> Void] = [
            { _ = try? source.applying("reducev", ["vshrink": 1.9]) }, { unused.withLock { $0 = nil } },
        ]
        var pixels: VipsImage?
        VipsRuntime.exclusively {
            for work in works {
                DispatchQueue.global().async(group: others) {
                    started.signal()
                    work()
                    done.withLock { $0 += 1 }
                }
                started.wait()
            }
            // Takes a hundred times as long as what the others would like to do.
            pixels = try? blurred.rendered()
            #expect(done.withLock(\.self) == 0)
        }
        others.wait()
        #expect(done.withLock(\.self) == 2)
        #expect(pixels?.width == 600)
    }
}
