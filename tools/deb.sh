#!/bin/sh
# Debian packages of what is checked out: deb.sh FOLDER.  dpkg-buildpackage builds them there, from
# a copy; it says what it lacks.  Without the tests, unless DEB_BUILD_OPTIONS is set.
set -eu
to=${1:?usage: deb.sh FOLDER}
version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' debian/changelog)
mkdir -p "$to"
rm -rf "$to/gnnc-$version" "$to"/*.deb "$to"/gnnc_*
git ls-files -z | grep -zv '^debian/' |
    tar -c -z --null -T - --transform "s,^,gnnc-$version/," -f "$to/gnnc_$version.orig.tar.gz"
tar -x -z -C "$to" -f "$to/gnnc_$version.orig.tar.gz"
cp -r debian "$to/gnnc-$version/"
cd "$to/gnnc-$version"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-nocheck} dpkg-buildpackage -us -uc
cd ..
rm -rf "gnnc-$version"
ls -l ./*.deb
