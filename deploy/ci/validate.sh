#!/bin/sh
# Validates XRDs and Compositions, and writes a report. The GitHub Action, the GitLab template and the
# pre-commit hook run this script. It needs curl, tar and sha256sum, or ingestor-cli in the PATH.
#
#   validate.sh [file...]
#
#   INGESTOR_PATHS       files and folders, separated by spaces, if there are no arguments (default: .)
#   INGESTOR_STRICT      "true" (default) fails on warnings too
#   INGESTOR_REPORT      file of the report (default: none, findings are printed)
#   INGESTOR_FORMAT      sarif (default), junit or json
#   INGESTOR_VERSION     release to download, if ingestor-cli is not installed (default: the last in CHANGELOG.md)
#   INGESTOR_REPOSITORY  repository with the releases, without https:// (default: that of this checkout)
#   INGESTOR_DOWNLOADS   where releases are (default: https://<repository>/releases/download)
#
# A release is downloaded once into the user's cache folder.
set -eu

program=ingestor-cli
if ! command -v "$program" >/dev/null; then
	here=$(dirname "$0")
	version=${INGESTOR_VERSION:-$(sed -n 's/^## \[\([0-9][^]]*\)\].*/v\1/p' "$here/../../CHANGELOG.md" 2>/dev/null | head -n 1)}
	: "${version:?ingestor-cli is not installed: set INGESTOR_VERSION to a release, such as v1.2.3}"
	repository=${INGESTOR_REPOSITORY:-$(sed -n 's/^repository: *//p' "$here/../chart/product.yaml" 2>/dev/null || true)}
	: "${repository:?ingestor-cli is not installed: set INGESTOR_REPOSITORY to where its releases are}"
	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	case $(uname -m) in
		x86_64 | amd64) arch=amd64 ;;
		aarch64 | arm64) arch=arm64 ;;
		*) echo "validate: no release for $(uname -m)" >&2; exit 1 ;;
	esac
	name=${repository##*/}_${version#v}_${system}_${arch}
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/ingestor-releases
	program=$cache/$name/ingestor-cli
	if [ ! -x "$program" ]; then
		mkdir -p "$cache"
		folder=$(mktemp -d "$cache/download.XXXXXX")
		trap 'rm -rf "$folder"' EXIT
		for file in "$name.tar.gz" checksums.txt; do
			curl --fail --silent --show-error --location --retry 3 --output "$folder/$file" \
				"${INGESTOR_DOWNLOADS:-https://$repository/releases/download}/$version/$file"
		done
		(cd "$folder" && grep "  $name.tar.gz\$" checksums.txt | sha256sum --check --quiet -)
		tar -xzf "$folder/$name.tar.gz" -C "$folder"
		# Another run may have been faster.
		mv "$folder/$name" "$cache/" 2>/dev/null || [ -x "$program" ]
	fi
fi

files=$#
if [ "$files" -eq 0 ]; then
	# Words of INGESTOR_PATHS are arguments.
	# shellcheck disable=SC2086
	set -- ${INGESTOR_PATHS:-.} --recursive
fi
set -- "$@" --validate
if [ "${INGESTOR_STRICT:-true}" = true ]; then
	set -- "$@" --strict
fi
status=0
if [ -n "${INGESTOR_REPORT:-}" ]; then
	# The report is written whatever the result is; the findings are also printed, for the log of the job.
	"$program" "$@" --output-format "${INGESTOR_FORMAT:-sarif}" --quiet >"$INGESTOR_REPORT" || status=$?
	"$program" "$@" || true
else
	"$program" "$@" || status=$?
fi
# Not every file that a hook passes is an XRD.
if [ "$files" -gt 0 ] && [ "$status" -eq 3 ]; then
	status=0
fi
exit "$status"
