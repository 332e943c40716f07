Gem::Specification.new do |spec|
  spec.name = "darkroom-urls"
  spec.version = "0.1.0"
  spec.summary = "Signed URLs of a Darkroom image server"
  spec.authors = ["Darkroom contributors"]
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.0"
  spec.files = ["lib/darkroom_urls.rb"]
end
