package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// form is the Template of the definition.
	form = "xsamples0.platform.example.org"
	// workers is the default number of concurrent tasks of a portal.
	workers = 10
	// warm is the number of tasks before the measurement, which fill the caches
	// of the cluster client.
	warm = 20
)

// values returns values of the form with every group filled.
func values(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"name":%q,"namespace":"default","region":"eu-west-1","size":"large","tags":{"a":"b"}`, name)
	for group := 'A'; group <= 'F'; group++ {
		fmt.Fprintf(&b, `,"group%c":{"name0":"x","count1":3,"enabled2":true,"items3":["p","q"],"name4":"y","count5":7}`, group)
	}
	b.WriteString("}")
	return b.String()
}

// rate measures the number of tasks per second.
func (b *bench) rate(engine, database string) error {
	s, err := b.begin(b.program, database, workers)
	if err != nil {
		return err
	}
	defer b.end(s)
	if err := until("the form", func() error {
		return s.ask(http.MethodGet, "/api/catalog/entities/by-name/template/default/"+form, "", nil)
	}); err != nil {
		return err
	}
	if _, err := s.post(engine+"-warm", warm); err != nil {
		return err
	}
	if err := s.done(warm); err != nil {
		return err
	}
	before, err := s.CPU()
	if err != nil {
		return err
	}
	began := time.Now()
	answers, err := s.post(engine, *count)
	if err != nil {
		return err
	}
	posted := time.Since(began)
	if err := s.done(warm + *count); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := s.CPU()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.w, "%s: %d tasks of one apply in %.1f s: %.0f a second (wanted %d), %.1f ms of the portal's processor time each\n",
		engine, *count, took.Seconds(), float64(*count)/took.Seconds(), wantedRate, (after-before)*1000/float64(*count))
	fmt.Fprintf(b.w, "%s: they were asked for in %.1f s by %d at once, and answered in %s\n", engine, posted.Seconds(), *clients, told(answers))
	return nil
}

// post creates n tasks with concurrent clients, and returns the duration of
// each request.
func (s *service) post(name string, n int) ([]time.Duration, error) {
	var next atomic.Int64
	took, errs := make([]time.Duration, n), make([]error, *clients)
	var wg sync.WaitGroup
	for client := range errs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[client] == nil; i = int(next.Add(1)) - 1 {
				began := time.Now()
				_, errs[client] = s.make(form, values(fmt.Sprintf("%s-%d", strings.ToLower(name), i)))
				took[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	return took, errors.Join(errs...)
}

// done waits until n tasks are completed, and checks that there are no others.
func (s *service) done(n int) error {
	if err := until("the tasks", func() error {
		left, err := s.total("open", "processing")
		if err == nil && left > 0 {
			err = fmt.Errorf("%d tasks are left", left)
		}
		return err
	}); err != nil {
		return err
	}
	completed, err := s.total("completed")
	if err == nil && completed != n {
		err = fmt.Errorf("of %d tasks %d are completed", n, completed)
	}
	return err
}
