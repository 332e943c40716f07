# frozen_string_literal: true

require "json"
require "minitest/autorun"
require_relative "../lib/darkroom_urls"

class SignerTest < Minitest::Test
  VECTORS = JSON.parse(File.read(File.expand_path("../../../Fixtures/signatures.json", __dir__), encoding: "UTF-8"))
  SECRET = VECTORS["keys"]["k1"]
  SOURCE = "https://example.com/photo.jpg"

  def signer(base = "")
    DarkroomURLs::Signer.new(key_id: "k1", secret: SECRET, base: base)
  end

  (VECTORS["valid"] + VECTORS["signed"]).each do |row|
    define_method("test_signs #{row['name']}") do
      signer = DarkroomURLs::Signer.new(key_id: row["key"], secret: VECTORS["keys"][row["key"]])
      path = row["path"]
      assert_equal row["url"], signer.url(row["parameters"], path: path)
      assert_equal row["signed_path"], signer.signed_path(row["parameters"]) if row["signed_path"]
      next unless row["parameters"]["exp"]

      seconds = Integer(row["parameters"]["exp"])
      rest = row["parameters"].reject { |name,| name == "exp" }
      [seconds, Time.at(seconds, 999, :millisecond)].each do |expires|
        assert_equal row["url"], signer.url(rest, path: path, expires: expires)
      end
    end
  end

  def test_values_may_be_numbers_booleans_and_lists_and_are_left_out_if_there_is_none
    typed = { url: SOURCE, w: 400, fpx: 0.25, flip: true, radius: [8, 0], h: nil }
    texts = { "url" => SOURCE, "w" => "400", "fpx" => "0.25", "flip" => "true", "radius" => "8,0" }
    assert_equal DarkroomURLs.query(texts), DarkroomURLs.query(typed)
  end

  def test_the_base_precedes_the_path_and_is_not_signed
    relative = signer.url({ url: SOURCE, w: 400 })
    assert_equal "https://img.example.com/base#{relative}",
                 signer("https://img.example.com/base/").url({ url: SOURCE, w: 400 })
  end

  def test_a_set_of_widths_has_a_signed_url_for_each_width
    small, large = [320, 640].map { |w| signer.url({ url: SOURCE, w: w }, expires: 4_102_444_800) }
    assert_equal "#{small} 320w, #{large} 640w",
                 signer.srcset({ url: SOURCE, w: 1 }, [320, 640], expires: 4_102_444_800)
  end

  def test_what_is_inspected_has_no_secret
    refute_includes signer.inspect, SECRET
  end

  def test_what_no_server_accepts_is_refused
    ["", "a.b", "k1\n", "a" * 33].each do |key_id|
      assert_raises(ArgumentError) { DarkroomURLs::Signer.new(key_id: key_id, secret: SECRET) }
    end
    ["short", " " * 32, "," * 32].each do |weak|
      assert_raises(ArgumentError) { DarkroomURLs::Signer.new(key_id: "k1", secret: weak) }
    end
    assert_raises(ArgumentError) { signer.url({ url: SOURCE, s: "k1.x" }) }
    [0, 1.5, 253_402_300_800].each do |expires|
      assert_raises(ArgumentError) { signer.url({ url: SOURCE }, expires: expires) }
    end
  end
end
