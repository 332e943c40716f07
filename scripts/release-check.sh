#!/usr/bin/env bash
# Checks that the last commit can be tagged as the release of its version, and prints the commands that do so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "release-check: $*" >&2; exit 1; }

version=$(sed -n 's/.*static let release = "\(.*\)"/\1/p' Sources/Command/Commands/Darkroom.swift)
[ -n "$version" ] || fail "Darkroom.swift names no version"
[ -z "$(git status --porcelain)" ] || fail "the tree has uncommitted changes; commit or remove them"
git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null && fail "v$version is tagged already; raise the version"
grep -qE "^## \[${version//./\\.}\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md \
    || fail "CHANGELOG.md has no section '## [$version] - $(date +%F)'; give [Unreleased] its version and date"
awk '/^## \[Unreleased\]/ { inside = 1; next } /^## / { inside = 0 } inside && /^- / { exit 1 }' CHANGELOG.md \
    || fail "CHANGELOG.md has entries under [Unreleased]; move them to the section of $version"

.ci/run
make --no-print-directory package-test
[ -z "$(git status --porcelain)" ] || fail "the checks changed files: $(git status --short)"

cat <<END

$(git rev-parse --short HEAD) can be released as $version:

  git tag --annotate v$version --message "Darkroom $version"
  git push origin v$version

and publish $(cd .build/dist && echo darkroom_"$version"-*.deb).
END
