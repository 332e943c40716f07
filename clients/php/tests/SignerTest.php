<?php

declare(strict_types=1);

require __DIR__ . '/../src/Signer.php';

use Darkroom\Signer;

const SOURCE = 'https://example.com/photo.jpg';

$vectors = json_decode(file_get_contents(__DIR__ . '/../../../Fixtures/signatures.json'), true, 512, JSON_THROW_ON_ERROR);
$secret = $vectors['keys']['k1'];
$signer = new Signer('k1', $secret);
[$passed, $failed] = [0, 0];

function check(string $name, mixed $found, mixed $expected): void
{
    global $passed, $failed;
    if ($found === $expected) {
        $passed += 1;
        return;
    }
    $failed += 1;
    echo "FAILED: $name\n  found    ", var_export($found, true), "\n  expected ", var_export($expected, true), "\n";
}

function checkRefused(string $name, callable $call): void
{
    try {
        check($name, $call(), 'InvalidArgumentException');
    } catch (InvalidArgumentException) {
        check($name, true, true);
    }
}

foreach ([...$vectors['valid'], ...$vectors['signed']] as $row) {
    $name = "signs $row[name]";
    $own = new Signer($row['key'], $vectors['keys'][$row['key']]);
    check($name, $own->url($row['parameters'], path: $row['path']), $row['url']);
    if (isset($row['signed_path'])) {
        check("$name in the path", $own->signedPath($row['parameters']), $row['signed_path']);
    }
    if (isset($row['parameters']['exp'])) {
        $seconds = (int) $row['parameters']['exp'];
        $rest = array_diff_key($row['parameters'], ['exp' => 0]);
        foreach ([$seconds, new DateTimeImmutable("@$seconds")] as $expires) {
            check("$name by time", $own->url($rest, $expires, $row['path']), $row['url']);
        }
    }
}

check(
    'values may be numbers, booleans and lists, and are left out if there is none',
    Signer::query(['url' => SOURCE, 'w' => 400, 'fpx' => 0.25, 'flip' => true, 'radius' => [8, 0], 'h' => null]),
    Signer::query(['url' => SOURCE, 'w' => '400', 'fpx' => '0.25', 'flip' => 'true', 'radius' => '8,0']),
);
check(
    'the base precedes the path and is not signed',
    (new Signer('k1', $secret, 'https://img.example.com/base/'))->url(['url' => SOURCE, 'w' => 400]),
    'https://img.example.com/base' . $signer->url(['url' => SOURCE, 'w' => 400]),
);
[$small, $large] = array_map(fn ($w) => $signer->url(['url' => SOURCE, 'w' => $w], 4102444800), [320, 640]);
check(
    'a set of widths has a signed URL for each width',
    $signer->srcset(['url' => SOURCE], [320, 640], 4102444800),
    "$small 320w, $large 640w",
);
check('a dump has no secret', str_contains(print_r($signer, true), $secret), false);
foreach (['', 'a.b', "k1\n", str_repeat('a', 33)] as $keyId) {
    checkRefused("key ID '$keyId'", fn () => new Signer($keyId, $secret));
}
foreach (['short', str_repeat(' ', 32), str_repeat(',', 32)] as $weak) {
    checkRefused("secret '$weak'", fn () => new Signer('k1', $weak));
}
checkRefused('a signature among the parameters', fn () => $signer->url(['url' => SOURCE, 's' => 'k1.x']));
foreach ([0, 253402300800] as $expires) {
    checkRefused("expiry $expires", fn () => $signer->url(['url' => SOURCE], $expires));
}

echo "$passed passed, $failed failed\n";
exit($failed > 0 || $passed < 40 ? 1 : 0);
