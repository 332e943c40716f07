#!/usr/bin/env bash
# Publishes the container image of a release, from packages that exist, at ghcr.io under this repository's name.
#
#   release-image.sh push PACKAGES FILE     pushes this machine's architecture without a tag; writes the digest into FILE
#   release-image.sh tag TAG FILE...        gives images with these digests one tag; prints name= and digest=
#
# The workflow of a release runs it: GITHUB_REPOSITORY, GITHUB_SHA, GITHUB_ACTOR and GITHUB_TOKEN are set. DOCKER names
# another docker for a trial.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

docker=${DOCKER:-docker}
# Names of images have no capitals.
name=ghcr.io/${GITHUB_REPOSITORY,,}

login() { "$docker" login ghcr.io --username "$GITHUB_ACTOR" --password-stdin <<<"$GITHUB_TOKEN" >&2; }

push() {
    local packages=$1 file=$2 metadata
    # Not local: the trap runs after the function.
    context=$(mktemp -d)
    trap 'rm -rf "$context"' EXIT
    metadata=$context/metadata.json
    # Takes the place of the Dockerfile's stage "build".
    mkdir -p "$context/build/darkroom/.build/dist"
    cp "$packages"/darkroom_*.deb "$context/build/darkroom/.build/dist"
    login
    # Only this driver pushes by digest and adds attestations.
    "$docker" buildx create --use --driver docker-container >&2
    "$docker" buildx build --build-context "build=$context/build" --provenance mode=max --sbom true \
        --label "org.opencontainers.image.source=https://github.com/$GITHUB_REPOSITORY" \
        --label "org.opencontainers.image.revision=$GITHUB_SHA" \
        --output "type=image,name=$name,push-by-digest=true,name-canonical=true,push=true" \
        --metadata-file "$metadata" . >&2
    sed -n 's/.*"containerimage.digest": *"\(sha256:[0-9a-f]\{64\}\)".*/\1/p' "$metadata" | head -n 1 >"$file"
    [ -s "$file" ] || { echo "docker reported no digest" >&2; exit 1; }
}

tag() {
    local version=${1#v} images=() file digest
    for file in "${@:2}"; do images+=("$name@$(<"$file")"); done
    login
    local tags=(--tag "$name:$version")
    # A preview, such as 0.2.0-rc.1, is not what "latest" means.
    [[ $version == *-* ]] || tags+=(--tag "$name:latest" --tag "$name:${version%.*}")
    "$docker" buildx imagetools create "${tags[@]}" "${images[@]}" >&2
    digest=$("$docker" buildx imagetools inspect "$name:$version" --format '{{.Manifest.Digest}}')
    printf 'name=%s\ndigest=%s\n' "$name" "$digest"
}

"$@"
