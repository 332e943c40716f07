#!/usr/bin/env bash
# Builds darkroom_VERSION_ARCH.deb from an executable of `make release`, and darkroom-dbgsym_VERSION_ARCH.deb from the symbols
# beside it, and the software bill of materials darkroom_VERSION_ARCH.cdx.json. Built on Debian 12, they are for Debian 12
# and 13. The same executable and commit give the same bytes.
#
# Licenses and versions of the Swift packages come from the build folder that the executable lies in. For an executable from
# elsewhere they come from this clone, which resolves its packages first if necessary.
#
#   package.sh [EXECUTABLE [FOLDER]]
#
# REVISION=1 is Debian's part of the version. SOURCE_DATE_EPOCH dates the files; the default is the last commit, or the
# changelog's file where there is no git.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

executable=${1:-.build/dist/darkroom}
[ -x "$executable" ] || { echo "$executable does not exist; build it with make release" >&2; exit 1; }
mkdir -p "${2:-.build/dist}"
folder=$(realpath "${2:-.build/dist}")
scripts/setup-package.sh
if readelf --dynamic "$executable" | grep -q 'NEEDED.*libswift'; then
    echo "$executable needs the Swift runtime; build it with make release" >&2
    exit 1
fi
build=$(dirname "$(realpath "$executable")")
until [ -e "$build/workspace-state.json" ] || [ "$build" = / ]; do build=$(dirname "$build"); done
if [ "$build" = / ]; then
    build=.build
    [ -e "$build/workspace-state.json" ] || swift package resolve
fi
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export LC_ALL=C TZ=UTC
umask 022

version=$("$executable" --version)-${REVISION:-1}
architecture=$(dpkg --print-architecture)
# On the same file system, so that files appear in the folder complete or not at all. A run that was killed leaves its own.
rm -rf "$folder"/.package.*
work=$(mktemp -d "$folder/.package.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
root=$work/darkroom
symbols=$work/darkroom-dbgsym
put() { install -D --mode "${3:-644}" "$1" "$root/$2"; }
write() { mkdir -p "$root/$(dirname "$1")" && cat >"$root/$1"; }

put "$executable" usr/bin/darkroom 755
put deploy/debian/config.yaml etc/darkroom/config.yaml
put deploy/debian/darkroom.service lib/systemd/system/darkroom.service
scripts/make-manual.py "$executable" | gzip -9n | write usr/share/man/man1/darkroom.1.gz
"$executable" --generate-completion-script bash | sed '1{/^#!/d}' | write usr/share/bash-completion/completions/darkroom
"$executable" --generate-completion-script zsh | write usr/share/zsh/vendor-completions/_darkroom
"$executable" --generate-completion-script fish | write usr/share/fish/vendor_completions.d/darkroom.fish
python3 -B scripts/make-copyright.py --build "$build" copyright | write usr/share/doc/darkroom/copyright
python3 -B scripts/make-copyright.py --build "$build" notices | gzip -9n | write usr/share/doc/darkroom/NOTICE.gz
gzip -9n <CHANGELOG.md | write usr/share/doc/darkroom/changelog.gz
# What proxies, Prometheus, Grafana and Python applications need, so that docs/production.md needs no clone.
for sample in nginx/darkroom.conf haproxy/haproxy.cfg caddy/Caddyfile prometheus/{prometheus,alerts}.yaml grafana/darkroom.json; do
    put "deploy/$sample" "usr/share/doc/darkroom/examples/$sample"
done
put clients/python/darkroom_urls.py usr/share/doc/darkroom/examples/darkroom_urls.py
put deploy/debian/lintian-overrides usr/share/lintian/overrides/darkroom

mkdir "$work/debian"
cp deploy/debian/control "$work/debian/control"
maintainer=$(sed -n 's/^Maintainer: //p' deploy/debian/control)
cat >"$work/debian/changelog" <<END
darkroom ($version) bookworm trixie; urgency=medium

  * See changelog.gz.

 -- $maintainer  $(date --rfc-email --date "@$SOURCE_DATE_EPOCH")
END
gzip -9n <"$work/debian/changelog" | write usr/share/doc/darkroom/changelog.Debian.gz

# The last step: control information, checksums, and the archives.
archive() {
    local package=$1 staged=$work/$1
    mkdir --mode 755 "$staged/DEBIAN"
    if [ "$package" = darkroom ]; then
        (cd "$work" && dpkg-shlibdeps --warnings=1 darkroom/usr/bin/darkroom)
        echo /etc/darkroom/config.yaml >"$staged/DEBIAN/conffiles"
        install --mode 755 deploy/debian/{postinst,prerm,postrm} "$staged/DEBIAN"
    fi
    # It warns of the field Auto-Built-Package, which debhelper adds in the same way, and of dependencies that symbols lack.
    (cd "$work" && dpkg-gencontrol -p"$package" -P"$package" 2>/dev/null)
    (cd "$staged" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    dpkg-deb --root-owner-group "${@:2}" --build "$staged" "$work/finished/${package}_${version}_$architecture.deb"
}
mkdir "$work/finished"
archive darkroom
if [ -e "$executable.debug" ]; then
    # Debuggers look for the symbols of a file at its path below /usr/lib/debug. More compression saves little.
    install -D --mode 644 "$executable.debug" "$symbols/usr/lib/debug/usr/bin/darkroom.debug"
    mkdir -p "$symbols/usr/share/doc"
    ln -s darkroom "$symbols/usr/share/doc/darkroom-dbgsym"
    archive darkroom-dbgsym -z1
fi
python3 -B scripts/make-sbom.py --build "$build" "$executable" >"$work/finished/darkroom_${version}_$architecture.cdx.json"
rm -f "$folder"/darkroom{,-dbgsym}_*.{deb,cdx.json}
mv "$work"/finished/* "$folder"
