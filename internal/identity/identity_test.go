package identity

import "testing"

// TestKind decodes the names of kinds, also the one that earlier versions stored.
func TestKind(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, text string
		want         Kind
		fails        bool
	}{
		"User":      {reason: "A kind is decoded from its name.", text: "user", want: User},
		"Anonymous": {reason: "So is the kind of a caller without credentials.", text: "anonymous", want: Anonymous},
		"Former":    {reason: "Earlier versions stored another name for it.", text: formerAnonymous, want: Anonymous},
		"Unknown":   {reason: "An unknown name is an error.", text: "robot", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got Kind
			if err := got.UnmarshalText([]byte(tc.text)); got != tc.want || (err != nil) != tc.fails {
				t.Errorf("%s\ngot %v, %v, want %v", tc.reason, got, err, tc.want)
			}
		})
	}
}
