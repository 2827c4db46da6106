#!/bin/sh
# Validates the XRDs of a repository and writes a report. The GitHub Action and the GitLab template run
# this script. It needs curl, tar and sha256sum, or ingestor-cli in the PATH.
#
#   INGESTOR_PATHS       files and folders, separated by spaces (default: .)
#   INGESTOR_STRICT      "true" (default) fails on warnings too
#   INGESTOR_REPORT      file of the report (default: none, findings are printed)
#   INGESTOR_FORMAT      sarif (default), junit or json
#   INGESTOR_VERSION     release to download, such as v1.2.3, if ingestor-cli is not installed
#   INGESTOR_DOWNLOADS   where releases are (default: https://<repository>/releases/download)
set -eu

program=ingestor-cli
if ! command -v "$program" >/dev/null; then
	: "${INGESTOR_VERSION:?ingestor-cli is not installed: set INGESTOR_VERSION to a release, such as v1.2.3}"
	: "${INGESTOR_DOWNLOADS:?ingestor-cli is not installed: set INGESTOR_DOWNLOADS to where its releases are}"
	system=$(uname -s | tr '[:upper:]' '[:lower:]')
	case $(uname -m) in
		x86_64 | amd64) arch=amd64 ;;
		aarch64 | arm64) arch=arm64 ;;
		*) echo "validate: no release for $(uname -m)" >&2; exit 1 ;;
	esac
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	name=ingestor_${INGESTOR_VERSION#v}_${system}_${arch}
	for file in "$name.tar.gz" checksums.txt; do
		curl --fail --silent --show-error --location --retry 3 --output "$folder/$file" "$INGESTOR_DOWNLOADS/$INGESTOR_VERSION/$file"
	done
	(cd "$folder" && grep "  $name.tar.gz\$" checksums.txt | sha256sum --check --quiet -)
	tar -xzf "$folder/$name.tar.gz" -C "$folder"
	program=$folder/$name/ingestor-cli
fi

# Words of INGESTOR_PATHS are arguments.
# shellcheck disable=SC2086
set -- ${INGESTOR_PATHS:-.} --recursive --validate
if [ "${INGESTOR_STRICT:-true}" = true ]; then
	set -- "$@" --strict
fi
if [ -z "${INGESTOR_REPORT:-}" ]; then
	"$program" "$@"
	exit
fi
# The report is written whatever the result is; the findings are also printed, for the log of the job.
status=0
"$program" "$@" --output-format "${INGESTOR_FORMAT:-sarif}" --quiet >"$INGESTOR_REPORT" || status=$?
"$program" "$@" || true
exit "$status"
