import Crypto
import Foundation

func sign(keyID: String, secret: String, path: String, parameters: [String: String]) -> String {
    let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    let encode = { (text: String) in text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "" }
    let query = parameters.sorted { $0.key < $1.key }.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&")
    let text = Data("darkroom 1\n\(path)\n\(query)".utf8)
    let code = Data(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: Data(secret.utf8))))
    return "\(path)?\(query)&s=\(keyID)."
        + code.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
