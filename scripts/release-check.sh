#!/usr/bin/env bash
# Checks that the last commit can be tagged as the release of its version, and prints the commands that do so.
#
#   release-check.sh             before the tag: runs all checks
#   release-check.sh --tag TAG   in the release's workflow: the tag, the version and the changelog agree
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "release-check: $*" >&2; exit 1; }

version=$(sed -n 's/.*static let release = "\(.*\)"/\1/p' Sources/Command/Commands/Darkroom.swift)
[ -n "$version" ] || fail "Darkroom.swift names no version"
if [ "${1:-}" = --tag ]; then
    [ "${2:-}" = "v$version" ] || fail "the tag is ${2:-empty}, but the version is $version"
else
    [ -z "$(git status --porcelain)" ] || fail "the tree has uncommitted changes; commit or remove them"
    git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null && fail "v$version is tagged already; raise the version"
fi
grep -qE "^## \[${version//./\\.}\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md \
    || fail "CHANGELOG.md has no section '## [$version] - $(date +%F)'; give [Unreleased] its version and date"
awk '/^## \[Unreleased\]/ { inside = 1; next } /^## / { inside = 0 } inside && /^- / { exit 1 }' CHANGELOG.md \
    || fail "CHANGELOG.md has entries under [Unreleased]; move them to the section of $version"
[ "${1:-}" != --tag ] || exit 0

.ci/run
make --no-print-directory package-test
[ -z "$(git status --porcelain)" ] || fail "the checks changed files: $(git status --short)"

cat <<END

$(git rev-parse --short HEAD) can be released as $version:

  git tag --annotate v$version --message "Darkroom $version"
  git push origin v$version

The tag starts .github/workflows/release.yml, which builds, tests and publishes packages and images. To publish only
what was built and tested here: $(cd .build/dist && echo darkroom*_"$version"-*).
END
