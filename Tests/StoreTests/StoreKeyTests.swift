import Crypto
import Testing

@testable import DarkroomStore

@Suite struct StoreKeyTests {
    @Test func `A key is the SHA-256 of what it was made from`() {
        // FIPS 180-4's example.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(StoreKey(hashing: "abc".utf8).hex == expected)
        #expect(StoreKey(hashing: AnySequence("abc".utf8)).hex == expected)
        #expect(StoreKey(SHA256.hash(data: Array("abc".utf8))).description == expected)
    }

    @Test func `A key is the same after a round trip through its bytes or its digits`() {
        let key = StoreKey(hashing: "picture".utf8)
        #expect(StoreKey(digest: key.bytes) == key)
        #expect(StoreKey(hex: key.hex) == key)
    }

    @Test(arguments: [0, 31, 33])
    func `A digest of another length is no key`(count: Int) {
        #expect(StoreKey(digest: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test(arguments: [
        "", "ab", String(repeating: "AB", count: 32), String(repeating: "0g", count: 32),
        String(repeating: "00", count: 33), "../" + String(repeating: "0", count: 61),
    ])
    func `Only 64 lowercase hexadecimal digits are a key`(text: String) {
        #expect(StoreKey(hex: text) == nil)
    }
}
