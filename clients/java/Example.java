import darkroom.Signer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

final class Example {
    public static void main(String[] arguments) {
        Signer signer = new Signer("k1", System.getenv("SIGNING_SECRET"), "https://img.example.com");
        Map<String, Object> image = Map.of("url", "https://example.com/photo.jpg", "w", 400, "h", 300, "fit", "cover");
        Map<String, Object> source = Map.of("url", image.get("url"), "ar", "4:3");

        System.out.println(signer.url(image));
        System.out.println(signer.url("/image", image, Instant.now().plus(Duration.ofHours(1))));
        System.out.println(signer.url("/info", Map.of("url", image.get("url")), null));
        System.out.println(signer.signedPath(image, null));
        System.out.println(signer.srcset(source, List.of(320, 640, 1280), null));
    }
}
