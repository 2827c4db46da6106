package main

import (
	"math"
	"time"
)

// buckets is how many buckets a histogram has: they cover 1 µs to 11 minutes.
const buckets = 2048

// bucketWidth is the logarithm of the ratio of neighboring buckets.
var bucketWidth = math.Log(1.01)

// histogram counts durations in logarithmic buckets of 1 %, so that its memory does not
// grow with their number. The zero histogram is empty.
type histogram struct {
	n      int
	counts [buckets]uint32
}

func (h *histogram) add(d time.Duration) {
	i := int(math.Log(max(1, float64(d)/float64(time.Microsecond))) / bucketWidth)
	h.counts[min(i, buckets-1)]++
	h.n++
}

// quantile returns the duration in milliseconds that a part q of all durations does not
// exceed, to within half a percent. It is 0 if there are none.
func (h *histogram) quantile(q float64) float64 {
	left := int(math.Ceil(q * float64(h.n)))
	for i := range h.counts {
		if c := int(h.counts[i]); c > 0 {
			if left -= c; left <= 0 {
				return math.Exp((float64(i)+0.5)*bucketWidth) / 1000
			}
		}
	}
	return 0
}
