// Package darkroom creates signed URLs of a Darkroom image server.
package darkroom

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"time"
)

// Parameters are the parameters of a request by name, not percent-encoded.
type Parameters map[string]string

// Query returns the canonical query: parameters sorted by name, percent-encoded except for letters, digits and -._~.
func (p Parameters) Query() string {
	names := make([]string, 0, len(p))
	for name := range p {
		names = append(names, name)
	}
	sort.Strings(names)
	pairs := make([]string, len(names))
	for i, name := range names {
		pairs[i] = encode(name) + "=" + encode(p[name])
	}
	return strings.Join(pairs, "&")
}

// with returns a copy with another parameter.
func (p Parameters) with(name, value string) Parameters {
	copied := Parameters{name: value}
	for other, value := range p {
		if other != name {
			copied[other] = value
		}
	}
	return copied
}

// Signer creates signed URLs with one key of the server. It is safe for concurrent use.
type Signer struct {
	keyID, secret, base string
}

var (
	keyIDs  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	secrets = regexp.MustCompile(`^[\x21-\x2b\x2d-\x7e]{32,}$`)
	// 9999-12-31T23:59:59Z.
	latest = time.Unix(253402300799, 0)
)

// NewSigner returns a signer for a key of the server's signing-keys.
//
// The secret has at least 32 characters. The base is the server's URL, with its base path if it
// has one. If it is empty, URLs are relative to the host.
func NewSigner(keyID, secret, base string) (*Signer, error) {
	if !keyIDs.MatchString(keyID) {
		return nil, errors.New("darkroom: the key ID must be 1 to 32 letters A-Z and a-z, digits, - and _")
	}
	if !secrets.MatchString(secret) {
		return nil, errors.New("darkroom: the secret must be at least 32 printable ASCII characters without spaces and commas")
	}
	return &Signer{keyID, secret, strings.TrimRight(base, "/")}, nil
}

// URL returns the signed URL of an image. It expires at the given time, or never if that is zero.
func (s *Signer) URL(parameters Parameters, expires time.Time) (string, error) {
	return s.URLAt("/image", parameters, expires)
}

// URLAt returns the signed URL of a request to /image, /info, /explain, /srcset or /.
func (s *Signer) URLAt(path string, parameters Parameters, expires time.Time) (string, error) {
	query, signature, err := s.sign(path, parameters, expires)
	if err != nil {
		return "", err
	}
	return s.base + path + "?" + query + "&s=" + signature, nil
}

// SignedPath returns the URL of an image with its query in the path, for CDNs that use the path alone as cache key.
func (s *Signer) SignedPath(parameters Parameters, expires time.Time) (string, error) {
	query, signature, err := s.sign("/image", parameters, expires)
	if err != nil {
		return "", err
	}
	return s.base + "/signed/" + signature + "/" + base64.RawURLEncoding.EncodeToString([]byte(query)), nil
}

// Srcset returns the value of srcset with a signed URL of /image for each width in pixels.
func (s *Signer) Srcset(parameters Parameters, widths []int, expires time.Time) (string, error) {
	candidates := make([]string, len(widths))
	for i, width := range widths {
		url, err := s.URL(parameters.with("w", fmt.Sprint(width)), expires)
		if err != nil {
			return "", err
		}
		candidates[i] = fmt.Sprintf("%s %dw", url, width)
	}
	return strings.Join(candidates, ", "), nil
}

// String returns the key's ID, so that printing a signer does not reveal its secret.
func (s *Signer) String() string { return s.keyID }

// GoString does the same for %#v.
func (s *Signer) GoString() string { return s.keyID }

func (s *Signer) sign(path string, parameters Parameters, expires time.Time) (query, signature string, err error) {
	if _, found := parameters["s"]; found {
		return "", "", errors.New("darkroom: parameter 's' is the signature; leave it out")
	}
	if !expires.IsZero() {
		if expires.Unix() < 1 || expires.Unix() > latest.Unix() {
			return "", "", errors.New("darkroom: the URL must expire after 1970 and before the year 10000")
		}
		parameters = parameters.with("exp", fmt.Sprint(expires.Unix()))
	}
	query = parameters.Query()
	mac := hmac.New(sha256.New, []byte(s.secret))
	mac.Write([]byte("darkroom 1\n" + path + "\n" + query))
	return query, s.keyID + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// encode leaves letters, digits and -._~ as they are. QueryEscape writes a space as a plus, and a plus as %2B.
func encode(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
