package darkroom

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const source = "https://example.com/photo.jpg"

type row struct {
	Name, Key, Path, URL string
	Parameters           Parameters
	SignedPath           string `json:"signed_path"`
}

var vectors struct {
	Keys          map[string]string
	Valid, Signed []row
}

func TestMain(m *testing.M) {
	data, err := os.ReadFile("../../Fixtures/signatures.json")
	if err == nil {
		err = json.Unmarshal(data, &vectors)
	}
	if err != nil || len(vectors.Valid) == 0 || len(vectors.Signed) == 0 {
		fmt.Fprintln(os.Stderr, "Fixtures/signatures.json cannot be read:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func signer(t *testing.T, keyID, base string) *Signer {
	t.Helper()
	signer, err := NewSigner(keyID, vectors.Keys[keyID], base)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// expect fails the test unless a call returned the expected URL and no error.
func expect(t *testing.T, expected string) func(string, error) {
	t.Helper()
	return func(found string, err error) {
		t.Helper()
		if err != nil || found != expected {
			t.Errorf("found %q (%v), expected %q", found, err, expected)
		}
	}
}

func TestSignsTheVectors(t *testing.T) {
	for _, row := range append(vectors.Valid, vectors.Signed...) {
		t.Run(row.Name, func(t *testing.T) {
			signer := signer(t, row.Key, "")
			expect(t, row.URL)(signer.URLAt(row.Path, row.Parameters, time.Time{}))
			if row.Path == "/image" {
				expect(t, row.URL)(signer.URL(row.Parameters, time.Time{}))
			}
			if row.SignedPath != "" {
				expect(t, row.SignedPath)(signer.SignedPath(row.Parameters, time.Time{}))
			}
			if text, found := row.Parameters["exp"]; found {
				seconds, _ := strconv.ParseInt(text, 10, 64)
				rest := row.Parameters.with("exp", "")
				delete(rest, "exp")
				expect(t, row.URL)(signer.URLAt(row.Path, rest, time.Unix(seconds, 999_000_000)))
			}
		})
	}
}

func TestTheBasePrecedesThePathAndIsNotSigned(t *testing.T) {
	parameters := Parameters{"url": source, "w": "400"}
	relative, err := signer(t, "k1", "").URL(parameters, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "https://img.example.com/base"+relative)(signer(t, "k1", "https://img.example.com/base/").URL(parameters, time.Time{}))
}

func TestASetOfWidthsHasASignedURLForEachWidth(t *testing.T) {
	signer, expires := signer(t, "k1", ""), time.Unix(4102444800, 0)
	small, _ := signer.URL(Parameters{"url": source, "w": "320"}, expires)
	large, _ := signer.URL(Parameters{"url": source, "w": "640"}, expires)
	expect(t, small+" 320w, "+large+" 640w")(signer.Srcset(Parameters{"url": source, "w": "1"}, []int{320, 640}, expires))
}

func TestWhatIsPrintedHasNoSecret(t *testing.T) {
	signer := signer(t, "k1", "")
	if text := fmt.Sprintf("%v %+v %#v %s", signer, signer, signer, signer); strings.Contains(text, vectors.Keys["k1"]) {
		t.Error(text)
	}
}

func TestWhatNoServerAcceptsIsRefused(t *testing.T) {
	for _, keyID := range []string{"", "a.b", "k1\n", strings.Repeat("a", 33)} {
		if _, err := NewSigner(keyID, vectors.Keys["k1"], ""); err == nil {
			t.Errorf("key ID %q is accepted", keyID)
		}
	}
	for _, secret := range []string{"short", strings.Repeat(" ", 32), strings.Repeat(",", 32)} {
		if _, err := NewSigner("k1", secret, ""); err == nil {
			t.Errorf("secret %q is accepted", secret)
		}
	}
	signer := signer(t, "k1", "")
	if _, err := signer.URL(Parameters{"url": source, "s": "k1.x"}, time.Time{}); err == nil {
		t.Error("a signature among the parameters is accepted")
	}
	for _, expires := range []time.Time{time.Unix(0, 0), latest.Add(time.Second)} {
		if _, err := signer.URL(Parameters{"url": source}, expires); err == nil {
			t.Errorf("expiry %v is accepted", expires)
		}
	}
}
