require "darkroom_urls"

signer = DarkroomURLs::Signer.new(key_id: "k1", secret: ENV.fetch("SIGNING_SECRET"), base: "https://img.example.com")
image = { url: "https://example.com/photo.jpg", w: 400, h: 300, fit: "cover" }

puts signer.url(image)
puts signer.url(image, expires: Time.now + 3600)
puts signer.url({ url: image[:url] }, path: "/info")
puts signer.signed_path(image)
puts signer.srcset({ url: image[:url], ar: "4:3" }, [320, 640, 1280])
