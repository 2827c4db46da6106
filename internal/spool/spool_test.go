package spool

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// TestSpool stores texts from several goroutines in memory and in a file.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, room := range []int{0, 100, 1 << 20} {
		s := New(room)
		texts := make([][]Text, 4)
		var wg sync.WaitGroup
		for i := range texts {
			wg.Go(func() {
				for j := range 100 {
					text, err := s.Put(fmt.Appendf(nil, "text %d of %d", j, i))
					if err != nil {
						t.Error(err)
						return
					}
					texts[i] = append(texts[i], text)
				}
			})
		}
		wg.Wait()
		for i := range texts {
			for j, text := range texts[i] {
				want := fmt.Sprintf("text %d of %d", j, i)
				if got, err := text.Load(); err != nil || string(got) != want || text.Size() != len(want) {
					t.Fatalf("room %d: text is %q (%v), want %q", room, got, err, want)
				}
			}
		}
		if inFile := s.file != nil; inFile != (room < 1<<20) {
			t.Errorf("room %d: file is used: %v", room, inFile)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v (%v)", left, err)
	}
	if got, err := (Text{}).Load(); err != nil || len(got) > 0 {
		t.Errorf("zero value is %q (%v)", got, err)
	}
}

func TestNowhere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	s := New(3)
	if _, err := s.Put([]byte("few")); err != nil {
		t.Errorf("text that fits in memory returned %v", err)
	}
	if _, err := s.Put([]byte("more")); !errors.Is(err, ErrTemporary) {
		t.Errorf("Put returned %v, want ErrTemporary", err)
	}
}
