package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"darkroom"
)

func main() {
	signer, err := darkroom.NewSigner("k1", os.Getenv("SIGNING_SECRET"), "https://img.example.com")
	if err != nil {
		log.Fatal(err)
	}
	image := darkroom.Parameters{"url": "https://example.com/photo.jpg", "w": "400", "h": "300", "fit": "cover"}
	source := darkroom.Parameters{"url": image["url"]}

	fmt.Println(must(signer.URL(image, time.Time{})))
	fmt.Println(must(signer.URL(image, time.Now().Add(time.Hour))))
	fmt.Println(must(signer.URLAt("/info", source, time.Time{})))
	fmt.Println(must(signer.SignedPath(image, time.Time{})))
	fmt.Println(must(signer.Srcset(source, []int{320, 640, 1280}, time.Time{})))
}

func must(url string, err error) string {
	if err != nil {
		log.Fatal(err)
	}
	return url
}
