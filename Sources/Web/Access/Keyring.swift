import Crypto
import Foundation

/// The keys that signatures are checked with.
struct Keyring: Sendable {
    private let keys: [String: SigningKey]
    /// Stands in for a key that there is not, so that an unknown id costs what a wrong signature costs.
    private let decoy: SigningKey?

    init(_ keys: [SigningKey]) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { Base64URL.text(of: $0) }
        decoy = try? SigningKey(id: "none", secret: secret)
    }

    var isEmpty: Bool { keys.isEmpty }

    /// The key that signed the request; nil for an id that is unknown and for a signature that is wrong alike.
    func signer(of request: SignedRequest, by signature: Signature) -> SigningKey? {
        let key = keys[signature.keyID]
        let isRight = (key ?? decoy)?.hasSigned(request, as: signature.code) == true
        return isRight ? key : nil
    }
}
