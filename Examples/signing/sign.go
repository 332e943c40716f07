package signing

import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "net/url"; "strings")

func Sign(keyID, secret, path string, parameters url.Values) string {
	query := strings.ReplaceAll(parameters.Encode(), "+", "%20") // sorted by name; a plus itself is %2B by now
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("darkroom 1\n" + path + "\n" + query))
	code := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return path + "?" + query + "&s=" + keyID + "." + code
}
