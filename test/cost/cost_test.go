package cost

import "testing"

func BenchmarkSlowness(b *testing.B) {
	for b.Loop() {
		slowness()
	}
}
