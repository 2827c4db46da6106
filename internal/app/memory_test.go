package app

import (
	"math"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		live uint64
		most int64
		want int64
	}{
		"A small heap has the room.":               {10 * mb, math.MaxInt64, 88 * mb},
		"A large one grows by half.":               {200 * mb, math.MaxInt64, 300 * mb},
		"The cgroup has the last word.":            {200 * mb, 256 * mb, 256 * mb},
		"Even where it has less than the room.":    {10 * mb, 64 * mb, 64 * mb},
		"And where more than that is reachable.":   {300 * mb, 256 * mb, 256 * mb},
		"What cannot be is bounded like the rest.": {math.MaxUint64, math.MaxInt64, 6917529027641081854},
	} {
		if got := memoryLimit(88*mb, c.live, c.most); got != c.want {
			t.Errorf("%s Limit is %d, want %d", name, got, c.want)
		}
	}
	if got := available(); got <= 0 || got > math.MaxInt64/2 {
		t.Errorf("available memory is %d", got)
	}
}
