import darkroom.Signer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Checks the signer against the vectors in the file that the first argument names. */
final class SignerTest {
    private static final String SOURCE = "https://example.com/photo.jpg";
    private static final Instant EXPIRES = Instant.ofEpochSecond(4102444800L);
    private static int passed;
    private static int failed;

    public static void main(String[] arguments) throws Exception {
        Map<?, ?> vectors = (Map<?, ?>) new JSON(Files.readString(Path.of(arguments[0]))).value();
        Map<?, ?> keys = (Map<?, ?>) vectors.get("keys");
        List<Object> rows = new ArrayList<>((List<?>) vectors.get("valid"));
        rows.addAll((List<?>) vectors.get("signed"));
        for (Object row : rows) checkVector((Map<?, ?>) row, keys);
        String secret = (String) keys.get("k1");
        checkValues();
        checkBase(secret);
        checkWidths(new Signer("k1", secret, ""));
        checkRefusals(secret);
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed > 0 || passed < 40 ? 1 : 0);
    }

    @SuppressWarnings("unchecked")
    private static void checkVector(Map<?, ?> row, Map<?, ?> keys) {
        String name = "signs " + row.get("name");
        String path = (String) row.get("path");
        Signer signer = new Signer((String) row.get("key"), (String) keys.get(row.get("key")), "");
        Map<String, Object> parameters = (Map<String, Object>) row.get("parameters");
        check(name, signer.url(path, parameters, null), row.get("url"));
        if (path.equals("/image")) check(name, signer.url(parameters), row.get("url"));
        if (row.containsKey("signed_path")) {
            check(name + " in the path", signer.signedPath(parameters, null), row.get("signed_path"));
        }
        if (!parameters.containsKey("exp")) return;
        Map<String, Object> rest = new HashMap<>(parameters);
        Instant expires = Instant.ofEpochSecond(Long.parseLong((String) rest.remove("exp")), 999_000_000);
        check(name + " by time", signer.url(path, rest, expires), row.get("url"));
    }

    private static void checkValues() {
        Map<String, Object> typed = new HashMap<>(
                Map.of("url", SOURCE, "w", 400, "fpx", 0.25, "sat", 2.0, "flip", true, "radius", List.of(8, 0)));
        typed.put("h", null);
        check("values may be numbers, booleans and lists, and are left out if there is none", Signer.query(typed),
                Signer.query(Map.of("url", SOURCE, "w", "400", "fpx", "0.25", "sat", "2", "flip", "true", "radius", "8,0")));
    }

    private static void checkBase(String secret) {
        Map<String, Object> parameters = Map.of("url", SOURCE, "w", 400);
        check("the base precedes the path and is not signed",
                new Signer("k1", secret, "https://img.example.com/base/").url(parameters),
                "https://img.example.com/base" + new Signer("k1", secret, "").url(parameters));
    }

    private static void checkWidths(Signer signer) {
        String small = signer.url("/image", Map.of("url", SOURCE, "w", 320), EXPIRES);
        String large = signer.url("/image", Map.of("url", SOURCE, "w", 640), EXPIRES);
        check("a set of widths has a signed URL for each width",
                signer.srcset(Map.of("url", SOURCE, "w", 1), List.of(320, 640), EXPIRES),
                small + " 320w, " + large + " 640w");
    }

    private static void checkRefusals(String secret) {
        for (String keyId : List.of("", "a.b", "k1\n", "a".repeat(33))) {
            checkRefused("key ID " + keyId, () -> new Signer(keyId, secret, ""));
        }
        for (String weak : List.of("short", " ".repeat(32), ",".repeat(32))) {
            checkRefused("secret " + weak, () -> new Signer("k1", weak, ""));
        }
        Signer signer = new Signer("k1", secret, "");
        checkRefused("a signature among the parameters", () -> signer.url(Map.of("url", SOURCE, "s", "k1.x")));
        for (long seconds : new long[] {0, 253402300800L}) {
            checkRefused("expiry " + seconds,
                    () -> signer.url("/image", Map.of("url", SOURCE), Instant.ofEpochSecond(seconds)));
        }
    }

    private static void check(String name, Object found, Object expected) {
        if (found.equals(expected)) {
            passed += 1;
            return;
        }
        failed += 1;
        System.out.println("FAILED: " + name + "\n  found    " + found + "\n  expected " + expected);
    }

    private static void checkRefused(String name, Runnable call) {
        try {
            call.run();
            check(name, "accepted", "IllegalArgumentException");
        } catch (IllegalArgumentException error) {
            passed += 1;
        }
    }

    /** Reads the JSON that the vectors are written in. The Java platform has no reader of its own. */
    private static final class JSON {
        private final String text;
        private int at;

        JSON(String text) {
            this.text = text;
        }

        Object value() {
            char first = next();
            if (first == '"') return string();
            if (first == '[') {
                List<Object> items = new ArrayList<>();
                while (!ends(']')) items.add(value());
                return items;
            }
            if (first == '{') {
                Map<String, Object> members = new LinkedHashMap<>();
                while (!ends('}')) {
                    next();
                    String name = string();
                    next();
                    members.put(name, value());
                }
                return members;
            }
            int start = at - 1;
            while (Character.isDigit(text.charAt(at))) at += 1;
            return Long.parseLong(text.substring(start, at));
        }

        /** Returns the next character that is no white space. */
        private char next() {
            while (Character.isWhitespace(text.charAt(at))) at += 1;
            return text.charAt(at++);
        }

        /** Passes the end of a list or object, or the comma before its next member. */
        private boolean ends(char end) {
            char sign = next();
            if (sign != ',' && sign != end) at -= 1;
            return sign == end;
        }

        private String string() {
            StringBuilder read = new StringBuilder();
            for (char sign = text.charAt(at++); sign != '"'; sign = text.charAt(at++)) {
                if (sign != '\\') {
                    read.append(sign);
                    continue;
                }
                sign = text.charAt(at++);
                if (sign == 'u') {
                    read.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                } else {
                    read.append(sign == 'n' ? '\n' : sign == 't' ? '\t' : sign);
                }
            }
            return read.toString();
        }
    }
}
