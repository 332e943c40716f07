# frozen_string_literal: true

require "openssl"

# Signed URLs of a Darkroom server.
module DarkroomURLs
  # 9999-12-31T23:59:59Z.
  LATEST = 253_402_300_799

  # The canonical query: parameters sorted by name, percent-encoded except for letters, digits and `-._~`. Lists are
  # joined with commas. Parameters that are nil are left out.
  def self.query(parameters)
    parameters.compact.map { |name, value| [name.to_s, Array(value).join(",")] }.sort
              .map { |pair| pair.map { |text| encode(text) }.join("=") }.join("&")
  end

  def self.encode(text)
    text.encode(Encoding::UTF_8).b.gsub(/[^A-Za-z0-9\-._~]/n) { |byte| format("%%%02X", byte.ord) }
  end
  private_class_method :encode

  # Creates signed URLs with one key of the server.
  class Signer
    # key_id:: ID of the key in the server's `signing-keys`.
    # secret:: Secret of the key, at least 32 characters.
    # base:: The server's URL, with its base path if it has one. Without it, URLs are relative
    #        to the host.
    def initialize(key_id:, secret:, base: "")
      unless key_id.match?(/\A[A-Za-z0-9_-]{1,32}\z/)
        raise ArgumentError, "key_id must be 1 to 32 letters A-Z and a-z, digits, - and _."
      end
      unless secret.match?(/\A[\x21-\x2b\x2d-\x7e]{32,}\z/)
        raise ArgumentError, "secret must be at least 32 printable ASCII characters without spaces and commas."
      end

      @key_id = key_id
      @secret = secret
      @base = base.sub(%r{/+\z}, "")
    end

    # The signed URL of a request.
    #
    # parameters:: Parameters by name, as strings or symbols, not percent-encoded.
    # expires:: When the URL expires, as a Time or in seconds since 1970. Default: never.
    # path:: `/image`, `/info`, `/explain`, `/srcset` or `/`.
    def url(parameters, expires: nil, path: "/image")
      query, signature = sign(path, parameters, expires)
      "#{@base}#{path}?#{query}&s=#{signature}"
    end

    # The URL of an image with its query in the path, for CDNs that use the path alone as cache key.
    def signed_path(parameters, expires: nil)
      query, signature = sign("/image", parameters, expires)
      "#{@base}/signed/#{signature}/#{base64url(query)}"
    end

    # The value of `srcset` with a signed URL of `/image` for each width in pixels.
    def srcset(parameters, widths, expires: nil)
      rest = parameters.transform_keys(&:to_s)
      widths.map { |width| "#{url(rest.merge('w' => width), expires: expires)} #{width}w" }.join(", ")
    end

    # Hides the secret from logs.
    def inspect
      "#<#{self.class} #{@key_id}>"
    end

    private

    def sign(path, parameters, expires)
      parameters = parameters.transform_keys(&:to_s)
      raise ArgumentError, "Parameter 's' is the signature; leave it out." if parameters["s"]

      parameters["exp"] = seconds(expires) if expires
      query = DarkroomURLs.query(parameters)
      code = OpenSSL::HMAC.digest("SHA256", @secret, "darkroom 1\n#{path}\n#{query}")
      [query, "#{@key_id}.#{base64url(code)}"]
    end

    def base64url(bytes)
      [bytes].pack("m0").tr("+/", "-_").delete("=")
    end

    def seconds(expires)
      time = expires.is_a?(Time) ? expires.to_i : expires
      return time if time.is_a?(Integer) && time.between?(1, LATEST)

      raise ArgumentError, "expires must be a Time or whole seconds since 1970, until the year 9999."
    end
  end
end
