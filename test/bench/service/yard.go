package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// yardstick measures the current speed of the machine, without which results of
// different times or machines cannot be compared. It is the time of a fixed
// piece of work, alone and concurrently on all CPUs.
func yardstick(w io.Writer) error {
	document := map[string]any{}
	for i := range 2000 {
		document[fmt.Sprint("key", i)] = []any{i, "text", map[string]any{"a": i}}
	}
	one, err := pieces(document, 1)
	if err != nil {
		return err
	}
	threads := runtime.GOMAXPROCS(0)
	all, err := pieces(document, threads)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the machine: a piece of work takes %d ms alone, and %d ms beside others on %d threads\n",
		one.Milliseconds(), all.Milliseconds(), threads)
	return nil
}

// pieces does n pieces of work at once.
func pieces(document map[string]any, n int) (time.Duration, error) {
	errs := make([]error, n)
	begun := time.Now()
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for range 60 {
				data, err := json.Marshal(document)
				if err == nil {
					var back any
					err = json.Unmarshal(data, &back)
				}
				if err != nil {
					errs[i] = err
					return
				}
				sha256.Sum256(data)
			}
		})
	}
	wg.Wait()
	return time.Since(begun), errors.Join(errs...)
}

// settle waits until the preparation, which filled a cluster, no longer keeps
// disk and CPUs busy.
func settle() {
	syscall.Sync()
	time.Sleep(3 * time.Second)
}
