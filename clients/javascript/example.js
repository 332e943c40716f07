import { Signer } from "darkroom-urls";

const signer = new Signer({ keyID: "k1", secret: process.env.SIGNING_SECRET, base: "https://img.example.com" });
const image = { url: "https://example.com/photo.jpg", w: 400, h: 300, fit: "cover" };

console.log(await signer.url(image));
console.log(await signer.url(image, { expires: new Date(Date.now() + 3600_000) }));
console.log(await signer.url({ url: image.url }, { path: "/info" }));
console.log(await signer.signedPath(image));
console.log(await signer.srcset({ url: image.url, ar: "4:3" }, [320, 640, 1280]));
