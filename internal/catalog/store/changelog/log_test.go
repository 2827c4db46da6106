package changelog

import (
	"fmt"
	"testing"
)

// TestLog adds references, each several times, and checks that none is lost silently.
func TestLog(t *testing.T) {
	for _, n := range []int{0, 1, loggedRefs - 1, loggedRefs, loggedRefs + 1, 3 * loggedRefs} {
		for _, times := range []int{1, 2, 5} {
			var l Log
			for i := range n {
				for range times {
					l.Add(fmt.Sprint("component:default/", i))
				}
			}
			l.compact()
			if many := n > loggedRefs; l.many != many || !many && len(l.refs) != n || many && len(l.refs) > 0 {
				t.Errorf("log of %d references, each added %d times, has %d, and that there are many is %v", n, times, len(l.refs), l.many)
			}
			if cap(l.refs) > 4*loggedRefs {
				t.Errorf("log has room for %d references", cap(l.refs))
			}
		}
	}
}
