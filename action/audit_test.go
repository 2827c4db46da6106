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
		"Written": {"An audit record is written.", false, true, []string{"git.push map[branch:main] no"}},
		"None":    {"Without an audit log nothing is written.", false, false, nil},
		"DryRun":  {"A dry run writes no audit record.", true, true, nil},
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
