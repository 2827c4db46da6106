package portal

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	s := newStage(t, always(http.StatusOK, `{"items":[{"name":"other","entities":90},{"name":"ci","entities":9}]}`))
	p := open(t, s.URL, Options{Provider: "ci"})
	if err := p.Guard(t.Context(), 5); err != nil {
		t.Errorf("push that removes less than half returned %v", err)
	}
	err := p.Guard(t.Context(), 4)
	if e, ok := errors.AsType[*ShrinkError](err); !ok || e.Has != 9 || e.Pushed != 4 || !strings.Contains(err.Error(), "ci has 9 entities") {
		t.Errorf("push that removes more than half returned %v", err)
	}
	if n, err := open(t, s.URL, Options{Provider: "new"}).Count(t.Context()); n != 0 || err != nil {
		t.Errorf("count of a new provider is %d, %v", n, err)
	}
}

func TestRegister(t *testing.T) {
	s := newStage(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 0:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"location":{"id":"1"},"entities":[]}`)
		case 1:
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, fault("ConflictError", "Location url:x already exists"))
		case 2:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"exists":true,"location":{"id":"1"},"entities":[{},{}]}`)
		case 3:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, fault("InputError", "NotAllowedError: reading is not allowed"))
		default:
			fmt.Fprint(w, `{"items":[]}`)
		}
	})
	p := open(t, s.URL, Options{})
	const at = "http://127.0.0.1:7010/catalog.yaml"
	if existed, err := p.Register(t.Context(), at); existed || err != nil {
		t.Errorf("first registration: %v, %v", existed, err)
	}
	if existed, err := p.Register(t.Context(), at); !existed || err != nil {
		t.Errorf("second registration: %v, %v", existed, err)
	}
	if n, err := p.Try(t.Context(), at); n != 2 || err != nil {
		t.Errorf("count is %d, %v, want two", n, err)
	}
	_, err := p.Try(t.Context(), at)
	if e, ok := errors.AsType[*Error](err); !ok || e.Problem != Invalid || !strings.Contains(err.Error(), "reading is not allowed") {
		t.Errorf("read without permission returned %v", err)
	}
	if _, err := p.Register(t.Context(), at); err == nil || !strings.Contains(err.Error(), "response has no location") {
		t.Errorf("response of another server returned %v", err)
	}
	want := "POST /api/catalog/locations Bearer " + secret + ` application/json {"target":"` + at + `","type":"url"}`
	if s.requests()[0] != want || s.requests()[2] != strings.Replace(want, "locations", "locations?dryRun=true", 1) {
		t.Errorf("got %q, want %q", s.requests(), want)
	}
}
