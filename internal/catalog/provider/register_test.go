package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/identity/auth"
)

// TestRegister checks that a step can register only what its user could
// register.
func TestRegister(t *testing.T) {
	s := newSite(t)
	s.set("/c.yaml", "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: c}\nspec: {type: service, lifecycle: production, owner: a}\n")
	ann := auth.Caller{Kind: auth.User, Subject: "user:default/ann"}
	cases := map[string]struct {
		reason string
		types  []string
		caller auth.Caller
		target string
		dry    bool
		want   string
		stored int
	}{
		"Registered": {"A step registers a location.", nil, ann, s.URL + "/c.yaml", false, "component:default/c", 1},
		"Dry":        {"A dry run registers nothing.", nil, ann, s.URL + "/c.yaml", true, "component:default/c", 0},
		"Guest":      {"Guests cannot register locations.", nil, auth.Caller{Kind: auth.Guest, Subject: "user:development/guest"}, s.URL + "/c.yaml", true, "Missing permission catalog.location.create: guests may only read; sign in", 0},
		"Type":       {"No caller can register where registration is disabled.", []string{}, ann, s.URL + "/c.yaml", false, "Registered locations must be of an allowed type []", 0},
		"Files":      {"A URL cannot be registered where only files are allowed.", []string{"file"}, ann, s.URL + "/c.yaml", true, `Registered locations must be of an allowed type ["file"]`, 0},
		"Machine":    {"A file URL is refused.", nil, ann, "file:///etc/passwd", true, "InputError: Unable to read url, not an absolute URL that begins with http:// or https://", 0},
		"Host":       {"Hosts that are not allowed are not read.", nil, ann, "http://127.0.0.1:1/c.yaml", true, "NotAllowedError: Unable to read url, reading from 'http://127.0.0.1:1/c.yaml' is not allowed; add the host to backend.reading.allow", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			opts := readingOf(s.URL, t.TempDir())
			if tc.types != nil {
				opts.Config.LocationTypes = tc.types
			}
			f := newHarness(t, "", opts)
			refs, err := f.intake.Register(auth.With(t.Context(), tc.caller), tc.target, tc.dry)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case len(refs) > 0:
				got = refs[len(refs)-1]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			all, err := f.store.Locations(t.Context())
			if err != nil || len(all) != tc.stored {
				t.Errorf("%s: %d locations are stored, %v", tc.reason, len(all), err)
			}
		})
	}
}
