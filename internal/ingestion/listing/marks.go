package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source/cluster"
)

// fresh is the age below which a timestamp can still belong to two versions of an
// object.
const fresh = 5 * time.Second

// refusedMark is the prefix of the mark of a refused object.
const refusedMark = "refused "

// mark returns a fingerprint by which change detection recognizes an unchanged object
// from its metadata; empty means that the full object must be read. It includes the
// settings, so that a change of settings invalidates all marks.
func (s *Reader) mark(item cluster.Item) string {
	d := s.Variant.Detection
	switch {
	case !d.Enabled:
		return ""
	case d.Method == variant.ByVersion && item.Version > 0:
		return s.Sealed(strconv.FormatInt(item.Version, 10) + " " + item.UID)
	case d.Method == variant.ByTimestamp && !item.Changed.IsZero():
		// Servers record no time when a label is removed.
		text := fmt.Sprintf("%d %q %q", item.Generation, item.Labels, item.Annotations)
		return s.Sealed(item.Changed.UTC().Format(time.RFC3339) + " " + object.Hash(text))
	}
	return ""
}

// firstSeen is the prefix of a mark that cannot be trusted yet. The time at which the
// object was first seen follows, then the mark.
const firstSeen = "first seen "

// lasting returns a mark in the form in which it is stored. A mark made of a timestamp
// with a resolution of seconds cannot be trusted if the object may change again within
// that second. It can be trusted once the cluster has recorded a later change, or once
// the object has stayed the same for a while by the local clock, whatever the skew of
// the two clocks.
func (s *Reader) lasting(item cluster.Item, newest time.Time, mark, before string) string {
	if mark == "" || s.Variant.Detection.Method != variant.ByTimestamp || newest.Sub(item.Changed) > fresh {
		return mark
	}
	since, seen, _ := strings.Cut(strings.TrimPrefix(before, firstSeen), " ")
	if at, err := strconv.ParseInt(since, 10, 64); err == nil && seen == mark && strings.HasPrefix(before, firstSeen) {
		if s.Begun.Sub(time.UnixMilli(at)).Abs() > fresh {
			return mark
		}
		return before
	}
	return firstSeen + strconv.FormatInt(s.Begun.UnixMilli(), 10) + " " + mark
}

// hashMark returns the mark of an object by its content and the version at which it was
// stored. The version is included because an object that has its old content again may
// have had other content in between, which left no mark.
func (s *Reader) hashMark(o *mirror.Object, version int64) string {
	h := sha256.New()
	h.Write(o.Body)
	h.Write(o.Note)
	return s.Sealed(hex.EncodeToString(h.Sum(nil)[:16]) + " " + strconv.FormatInt(version, 10))
}
