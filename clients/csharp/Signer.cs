using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace Darkroom
{
    /// <summary>
    /// Creates signed URLs with one key of a Darkroom server. Instances are immutable and safe for use by several threads.
    /// </summary>
    /// <remarks>
    /// Parameters are given by name and are not percent-encoded. Values are strings, numbers, booleans or sequences, which
    /// are joined with commas; a parameter that is null is left out.
    /// </remarks>
    public sealed class Signer
    {
        /// <summary>9999-12-31T23:59:59Z.</summary>
        private const long Latest = 253402300799;

        private readonly string keyId;
        private readonly byte[] secret;
        private readonly string baseUrl;

        /// <param name="keyId">ID of the key in the server's <c>signing-keys</c>.</param>
        /// <param name="secret">Secret of the key, at least 32 characters.</param>
        /// <param name="baseUrl">
        /// The server's URL, with its base path if it has one. If empty, URLs are relative to the
        /// host.
        /// </param>
        /// <exception cref="ArgumentException">No server accepts such a key.</exception>
        public Signer(string keyId, string secret, string baseUrl = "")
        {
            if (!Regex.IsMatch(keyId, @"\A[A-Za-z0-9_-]{1,32}\z"))
                throw new ArgumentException("The key ID must be 1 to 32 letters A-Z and a-z, digits, - and _.", nameof(keyId));
            if (!Regex.IsMatch(secret, @"\A[\x21-\x2b\x2d-\x7e]{32,}\z"))
                throw new ArgumentException(
                    "The secret must be at least 32 printable ASCII characters without spaces and commas.", nameof(secret));
            this.keyId = keyId;
            this.secret = Encoding.ASCII.GetBytes(secret);
            this.baseUrl = baseUrl.TrimEnd('/');
        }

        /// <summary>Returns the signed URL of a request.</summary>
        /// <param name="parameters">Parameters by name.</param>
        /// <param name="expires">When the URL expires. Default: never.</param>
        /// <param name="path"><c>/image</c>, <c>/info</c>, <c>/explain</c>, <c>/srcset</c> or <c>/</c>.</param>
        /// <exception cref="ArgumentException">There is a parameter <c>s</c>, or the expiry is before 1970.</exception>
        public string Url(
            IReadOnlyDictionary<string, object> parameters, DateTimeOffset? expires = null, string path = "/image")
        {
            var query = Query(Complete(parameters, expires));
            return $"{baseUrl}{path}?{query}&s={Signature(path, query)}";
        }

        /// <summary>
        /// Returns the URL of an image with its query in the path, for CDNs that use the path alone as cache key.
        /// </summary>
        public string SignedPath(IReadOnlyDictionary<string, object> parameters, DateTimeOffset? expires = null)
        {
            var query = Query(Complete(parameters, expires));
            return $"{baseUrl}/signed/{Signature("/image", query)}/{Base64Url(Encoding.ASCII.GetBytes(query))}";
        }

        /// <summary>
        /// Returns the value of <c>srcset</c> with a signed URL of <c>/image</c> for each width in pixels.
        /// </summary>
        public string Srcset(
            IReadOnlyDictionary<string, object> parameters, IEnumerable<int> widths, DateTimeOffset? expires = null)
        {
            return string.Join(", ", widths.Select(width => $"{Url(With(parameters, "w", width), expires)} {width}w"));
        }

        /// <summary>
        /// Returns the canonical query: parameters sorted by name, percent-encoded except for letters, digits and
        /// <c>-._~</c>.
        /// </summary>
        public static string Query(IReadOnlyDictionary<string, object> parameters)
        {
            var pairs = parameters.Where(pair => pair.Value != null).OrderBy(pair => pair.Key, StringComparer.Ordinal);
            return string.Join("&", pairs.Select(pair => $"{Encode(pair.Key)}={Encode(Text(pair.Value))}"));
        }

        private static IReadOnlyDictionary<string, object> Complete(
            IReadOnlyDictionary<string, object> parameters, DateTimeOffset? expires)
        {
            if (parameters.TryGetValue("s", out var signature) && signature != null)
                throw new ArgumentException("Parameter 's' is the signature; leave it out.", nameof(parameters));
            if (expires == null) return parameters;
            var seconds = expires.Value.ToUnixTimeSeconds();
            if (seconds < 1 || seconds > Latest)
                throw new ArgumentException("The URL must expire after 1970 and before the year 10000.", nameof(expires));
            return With(parameters, "exp", seconds);
        }

        private static IReadOnlyDictionary<string, object> With(
            IReadOnlyDictionary<string, object> parameters, string name, object value)
        {
            var copied = parameters.ToDictionary(pair => pair.Key, pair => pair.Value);
            copied[name] = value;
            return copied;
        }

        private string Signature(string path, string query)
        {
            using (var mac = new HMACSHA256(secret))
            {
                return $"{keyId}.{Base64Url(mac.ComputeHash(Encoding.UTF8.GetBytes($"darkroom 1\n{path}\n{query}")))}";
            }
        }

        private static string Text(object value)
        {
            if (value is string) return (string)value;
            if (value is bool) return (bool)value ? "true" : "false";
            if (value is IEnumerable) return string.Join(",", ((IEnumerable)value).Cast<object>().Select(Text));
            return Convert.ToString(value, CultureInfo.InvariantCulture);
        }

        /// <summary>Uri.EscapeDataString differs between versions of .NET in some characters, and refuses long texts.</summary>
        private static string Encode(string text)
        {
            var encoded = new StringBuilder();
            foreach (var octet in new UTF8Encoding(false, true).GetBytes(text))
            {
                var sign = (char)octet;
                if (sign < 128 && (char.IsLetterOrDigit(sign) || "-._~".IndexOf(sign) >= 0)) encoded.Append(sign);
                else encoded.Append('%').Append(octet.ToString("X2", CultureInfo.InvariantCulture));
            }
            return encoded.ToString();
        }

        private static string Base64Url(byte[] bytes)
        {
            return Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');
        }
    }
}
