package service_test

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTwoProcessesOneFile wants a second process on the same database of SQLite not
// to start, by whichever name it knows the file, and one that comes after a kill to.
func TestTwoProcessesOneFile(t *testing.T) {
	t.Parallel()
	s := setup{}
	first := launch(t, s.onFile(t)).ready()
	second := launch(t, s)
	select {
	case <-second.Ended():
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	path := s.file()
	want := fmt.Sprintf("portal-backend: cannot open the database %s: process %d on host ", path, first.PID())
	exit, ok := errors.AsType[*exec.ExitError](second.Err())
	if log := second.log.String(); !ok || exit.ExitCode() != 1 || !strings.Contains(log, want) || !strings.Contains(log, " uses it\n  stop that process, or set backend.database.connection") {
		t.Errorf("%v\n%s\nwant %q", second.Err(), log, want)
	}
	first.answers()
	first.stop()
	third := launch(t, s).ready()
	if _, err := third.ask(http.MethodGet, "/api/catalog/entities", nil, nil); err != nil {
		t.Error(err)
	}
}

// onFile has all processes of the setup use one database of SQLite.
func (s *setup) onFile(t *testing.T) setup {
	t.Helper()
	s.database = sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(t.TempDir(), "portal.sqlite")}}
	return *s
}

// file is that database.
func (s *setup) file() string {
	return s.database.(sections)["connection"].(sections)["filename"].(string)
}
