package action

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecord(t *testing.T) {
	cases := map[string]struct {
		reason     string
		dry, audit bool
		want       []string
	}{
		"Written": {"there is an audit log", false, true, []string{"git.push map[branch:main] no"}},
		"None":    {"there is none", false, false, nil},
		"DryRun":  {"nothing happened", true, true, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			c := &Call{DryRun: tc.dry}
			if tc.audit {
				c.Audit = func(event string, target map[string]string, err error) {
					got = append(got, fmt.Sprint(event, " ", target, " ", err))
				}
			}
			c.Record(EventGitPush, map[string]string{"branch": "main"}, errors.New("no"))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
