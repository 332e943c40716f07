<?php

declare(strict_types=1);

namespace Darkroom;

use DateTimeInterface;
use InvalidArgumentException;

/** Creates signed URLs with one key of a Darkroom server. */
final class Signer
{
    /** 9999-12-31T23:59:59Z. */
    private const LATEST = 253402300799;

    private string $base;

    /**
     * @param string $keyId  ID of the key in the server's `signing-keys`.
     * @param string $secret Secret of the key, at least 32 characters.
     * @param string $base   The server's URL, with its base path if it has one. Without it, URLs
     *                       are relative to the host.
     */
    public function __construct(
        private string $keyId,
        #[\SensitiveParameter] private string $secret,
        string $base = '',
    ) {
        if (!preg_match('/^[A-Za-z0-9_-]{1,32}$/D', $keyId)) {
            throw new InvalidArgumentException('$keyId must be 1 to 32 letters A-Z and a-z, digits, - and _.');
        }
        if (!preg_match('/^[\x21-\x2b\x2d-\x7e]{32,}$/D', $secret)) {
            throw new InvalidArgumentException(
                '$secret must be at least 32 printable ASCII characters without spaces and commas.'
            );
        }
        $this->base = rtrim($base, '/');
    }

    /**
     * Returns the signed URL of a request.
     *
     * @param array<string, mixed>       $parameters Parameters by name, not percent-encoded.
     * @param DateTimeInterface|int|null $expires    When the URL expires, as a date or in seconds since 1970. Default:
     *                                               never.
     * @param string                     $path       `/image`, `/info`, `/explain`, `/srcset` or `/`.
     */
    public function url(
        array $parameters,
        DateTimeInterface|int|null $expires = null,
        string $path = '/image',
    ): string {
        [$query, $signature] = $this->sign($path, $parameters, $expires);
        return "$this->base$path?$query&s=$signature";
    }

    /**
     * Returns the URL of an image with its query in the path, for CDNs that use the path alone as cache key.
     *
     * @param array<string, mixed> $parameters
     */
    public function signedPath(array $parameters, DateTimeInterface|int|null $expires = null): string
    {
        [$query, $signature] = $this->sign('/image', $parameters, $expires);
        return "$this->base/signed/$signature/" . self::base64url($query);
    }

    /**
     * Returns the value of `srcset` with a signed URL of `/image` for each width in pixels.
     *
     * @param array<string, mixed> $parameters
     * @param list<int>            $widths
     */
    public function srcset(array $parameters, array $widths, DateTimeInterface|int|null $expires = null): string
    {
        $candidate = fn (int $width) => $this->url(['w' => $width] + $parameters, $expires) . " {$width}w";
        return implode(', ', array_map($candidate, $widths));
    }

    /**
     * Returns the canonical query: parameters sorted by name, percent-encoded except for letters, digits and `-._~`.
     * Lists are joined with commas. Parameters that are null are left out.
     *
     * @param array<string, mixed> $parameters
     */
    public static function query(array $parameters): string
    {
        $parameters = array_filter($parameters, fn ($value) => $value !== null);
        ksort($parameters, SORT_STRING);
        $pairs = [];
        foreach ($parameters as $name => $value) {
            $pairs[] = rawurlencode((string) $name) . '=' . rawurlencode(self::text($value));
        }
        return implode('&', $pairs);
    }

    /** Hides the secret from dumps. */
    public function __debugInfo(): array
    {
        return ['keyId' => $this->keyId, 'base' => $this->base];
    }

    /** @return array{string, string} The query and its signature. */
    private function sign(string $path, array $parameters, DateTimeInterface|int|null $expires): array
    {
        if (isset($parameters['s'])) {
            throw new InvalidArgumentException("Parameter 's' is the signature; leave it out.");
        }
        if ($expires !== null) {
            $parameters['exp'] = self::seconds($expires);
        }
        $query = self::query($parameters);
        $code = hash_hmac('sha256', "darkroom 1\n$path\n$query", $this->secret, true);
        return [$query, "$this->keyId." . self::base64url($code)];
    }

    private static function text(mixed $value): string
    {
        return match (true) {
            is_bool($value) => $value ? 'true' : 'false',
            is_array($value) => implode(',', array_map(self::text(...), $value)),
            default => (string) $value,
        };
    }

    private static function base64url(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    private static function seconds(DateTimeInterface|int $expires): int
    {
        $time = is_int($expires) ? $expires : $expires->getTimestamp();
        if ($time < 1 || $time > self::LATEST) {
            throw new InvalidArgumentException('$expires must be from 1970 until the year 9999.');
        }
        return $time;
    }
}
