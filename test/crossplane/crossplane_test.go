package crossplane

import (
	"errors"
	"testing"

	"example.dev/ingestor/test/apiserver"
)

// TestOff checks that each variable skips the tests that need Crossplane.
func TestOff(t *testing.T) {
	for _, name := range []string{Off, apiserver.Off} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "1")
			if _, err := Run(nil); !errors.Is(err, ErrOff) {
				t.Errorf("Run returned %v, want ErrOff", err)
			}
			if err := Build(); !errors.Is(err, ErrOff) {
				t.Errorf("Build returned %v, want ErrOff", err)
			}
			t.Run("Start", func(t *testing.T) {
				Start(t, nil)
				t.Error("test was not skipped")
			})
		})
	}
}
