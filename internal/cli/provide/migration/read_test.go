package migration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"example.dev/ingestor/sink/portal"
)

// read reads all entities of a server, and returns their number.
func read(t *testing.T, answer http.HandlerFunc) (int, error) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	from, err := portal.New(server.URL, portal.Options{Name: "Backstage"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = Entities(t.Context(), from, nil, func(string) error { n++; return nil })
	return n, err
}

// TestEndless checks that a list with ever new cursors is not read forever.
func TestEndless(t *testing.T) {
	items := strings.TrimSuffix(strings.Repeat("{},", pageSize), ",")
	page := 0
	n, err := read(t, func(w http.ResponseWriter, _ *http.Request) {
		page++
		fmt.Fprintf(w, `{"items":[%s],"totalItems":1,"pageInfo":{"nextCursor":"%d"}}`, items, page)
	})
	if n != maxEntities || err == nil || !strings.Contains(err.Error(), "there are more than 250000") {
		t.Errorf("%d entities were read: %v", n, err)
	}
}

// TestLarge checks that pages that are too large are read in smaller parts, and that a
// single entity that is too large is an error.
func TestLarge(t *testing.T) {
	huge := strings.Repeat(" ", 65<<20)
	for name, tc := range map[string]struct {
		reason string
		// most is the largest page that is not huge.
		most, want int
		err        string
	}{
		"Pages":  {"A smaller page has the same entities.", 30, 200, ""},
		"Entity": {"An entity cannot be divided.", 0, 0, "cannot read the entities of Backstage at"},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := read(t, func(w http.ResponseWriter, r *http.Request) {
				limit, _ := strconv.Atoi(r.FormValue("limit"))
				from, _ := strconv.Atoi(r.FormValue("cursor"))
				if limit > tc.most {
					_, _ = w.Write([]byte(huge))
					return
				}
				to, next := min(from+limit, 200), ""
				if to < 200 {
					next = fmt.Sprintf(`"nextCursor":"%d"`, to)
				}
				fmt.Fprintf(w, `{"items":[%s],"totalItems":200,"pageInfo":{%s}}`, strings.TrimSuffix(strings.Repeat("{},", to-from), ","), next)
			})
			if n != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\ngot %d entities and %v, want %d and %q", tc.reason, n, err, tc.want, tc.err)
			}
		})
	}
}
