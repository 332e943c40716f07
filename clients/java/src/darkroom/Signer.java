package darkroom;

import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Creates signed URLs with one key of a Darkroom server. Instances are immutable and safe for use by several threads.
 *
 * <p>Parameters are given by name and are not percent-encoded. Values are strings, numbers, booleans or iterables, which
 * are joined with commas; a parameter that is null is left out.
 */
public final class Signer {
    /** 9999-12-31T23:59:59Z. */
    private static final Instant LATEST = Instant.ofEpochSecond(253402300799L);

    private final String keyId;
    private final SecretKeySpec secret;
    private final String base;

    /**
     * @param keyId ID of the key in the server's {@code signing-keys}
     * @param secret secret of the key, at least 32 characters
     * @param base the server's URL, with its base path if it has one; if empty, URLs are relative
     *     to the host
     * @throws IllegalArgumentException if no server accepts such a key
     */
    public Signer(String keyId, String secret, String base) {
        if (!keyId.matches("[A-Za-z0-9_-]{1,32}")) {
            throw new IllegalArgumentException("keyId must be 1 to 32 letters A-Z and a-z, digits, - and _.");
        }
        if (!secret.matches("[\\x21-\\x2b\\x2d-\\x7e]{32,}")) {
            throw new IllegalArgumentException(
                    "secret must be at least 32 printable ASCII characters without spaces and commas.");
        }
        this.keyId = keyId;
        this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.US_ASCII), "HmacSHA256");
        this.base = base.replaceAll("/+$", "");
    }

    /** Returns the signed URL of an image, which does not expire. */
    public String url(Map<String, ?> parameters) {
        return url("/image", parameters, null);
    }

    /**
     * Returns the signed URL of a request.
     *
     * @param path {@code /image}, {@code /info}, {@code /explain}, {@code /srcset} or {@code /}
     * @param expires when the URL expires; null for never
     * @throws IllegalArgumentException if there is a parameter {@code s}, or if the expiry is outside of the years 1970 to
     *     9999
     */
    public String url(String path, Map<String, ?> parameters, Instant expires) {
        String query = query(complete(parameters, expires));
        return base + path + "?" + query + "&s=" + signature(path, query);
    }

    /**
     * Returns the URL of an image with its query in the path, for CDNs that use the path alone as cache key.
     *
     * @param expires when the URL expires; null for never
     */
    public String signedPath(Map<String, ?> parameters, Instant expires) {
        String query = query(complete(parameters, expires));
        return base + "/signed/" + signature("/image", query) + "/"
                + base64url(query.getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Returns the value of {@code srcset} with a signed URL of {@code /image} for each width in pixels.
     *
     * @param expires when the URLs expire; null for never
     */
    public String srcset(Map<String, ?> parameters, Iterable<Integer> widths, Instant expires) {
        StringJoiner candidates = new StringJoiner(", ");
        for (int width : widths) {
            Map<String, Object> sized = new HashMap<>(parameters);
            sized.put("w", width);
            candidates.add(url("/image", sized, expires) + " " + width + "w");
        }
        return candidates.toString();
    }

    /**
     * Returns the canonical query: parameters sorted by name, percent-encoded except for letters, digits and {@code -._~}.
     */
    public static String query(Map<String, ?> parameters) {
        StringJoiner pairs = new StringJoiner("&");
        new TreeMap<String, Object>(parameters).forEach((name, value) -> {
            if (value != null) pairs.add(encode(name) + "=" + encode(text(value)));
        });
        return pairs.toString();
    }

    private static Map<String, ?> complete(Map<String, ?> parameters, Instant expires) {
        if (parameters.get("s") != null) {
            throw new IllegalArgumentException("Parameter 's' is the signature; leave it out.");
        }
        if (expires == null) return parameters;
        if (expires.getEpochSecond() < 1 || expires.getEpochSecond() > LATEST.getEpochSecond()) {
            throw new IllegalArgumentException("The URL must expire after 1970 and before the year 10000.");
        }
        Map<String, Object> completed = new HashMap<>(parameters);
        completed.put("exp", expires.getEpochSecond());
        return completed;
    }

    private String signature(String path, String query) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            byte[] code = mac.doFinal(("darkroom 1\n" + path + "\n" + query).getBytes(StandardCharsets.UTF_8));
            return keyId + "." + base64url(code);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("Every Java platform has HmacSHA256.", error);
        }
    }

    private static String text(Object value) {
        if (value instanceof Double || value instanceof Float || value instanceof BigDecimal) {
            return new BigDecimal(value.toString()).stripTrailingZeros().toPlainString();
        }
        if (!(value instanceof Iterable)) return value.toString();
        StringJoiner items = new StringJoiner(",");
        for (Object item : (Iterable<?>) value) items.add(text(item));
        return items.toString();
    }

    /** URLEncoder is made for forms, where a space is a plus. */
    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    private static String base64url(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
