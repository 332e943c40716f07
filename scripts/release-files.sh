#!/usr/bin/env bash
# Completes the files of a release: adds the Helm chart, alerts, dashboard and checksums to the folder of packages, and
# writes the release's notes, which are the changelog's section. Prints version=. GITHUB_REPOSITORY is the repository's full name.
#
#   release-files.sh TAG FOLDER NOTES
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1#v}
folder=$2
notes=$3

awk -v heading="## [$version]" '
    index($0, heading) == 1 { inside = 1; next }
    /^## / { inside = 0 }
    inside' CHANGELOG.md >"$notes"
grep -q '^- ' "$notes" || { echo "CHANGELOG.md has no entries for $version" >&2; exit 1; }
cat >>"$notes" <<'END'

Each file has an attestation: `gh attestation verify FILE --repo` with this repository's name shows that its workflow made
it. `sha256sum --check SHA256SUMS` checks a download.
END
for architecture in amd64 arm64; do
    for file in "darkroom_$version-1_$architecture".{deb,cdx.json}; do
        [ -s "$folder/$file" ] || { echo "$folder has no $file" >&2; exit 1; }
    done
done
tar --create --gzip --file "$folder/darkroom-chart-$version.tgz" --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$(git log -1 --format=%ct 2>/dev/null || date +%s)" --directory deploy/helm darkroom
# Alerts link to the runbook of this version.
runbook=https://github.com/$GITHUB_REPOSITORY/blob/$1/docs/runbook.md
sed "s#runbook_url: docs/runbook.md#runbook_url: $runbook#" deploy/prometheus/alerts.yaml >"$folder/darkroom-alerts.yaml"
cp deploy/grafana/darkroom.json "$folder/darkroom-dashboard.json"
(cd "$folder" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
echo "version=$version"
