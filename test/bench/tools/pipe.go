package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"example.dev/ingestor/test/bench/backend"
	"example.dev/ingestor/test/sample"
)

// programs are the programs of the pipe, in order.
var programs = []string{"xrd-extract", "xrd-transform", "portal-provide"}

// large pipes definitions of 61 leaf fields, one per file, into a real
// portal-backend.
func large(w io.Writer, tmp string) error {
	if *records == 0 {
		return nil
	}
	in := filepath.Join(tmp, "in")
	if err := os.Mkdir(in, 0o755); err != nil {
		return err
	}
	size := 0
	for i := range *records {
		text := sample.Definition(i)
		size += len(text)
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("%06d.yaml", i)), text, 0o644); err != nil {
			return err
		}
	}
	s, err := start(tmp)
	if err != nil {
		return err
	}
	defer s.Stop()
	p := pipe{tmp: tmp, base: s.Base, args: [][]string{{"--path", in}, nil, nil}}
	if err := p.run(); err != nil {
		return fmt.Errorf("%w\n%s", err, s.Log.String())
	}
	fmt.Fprintf(w, "%s over %d definitions of %d leaf fields (%.0f MB), into a portal-backend on SQLite: %s\n",
		strings.Join(programs, " | "), *records, sample.Leaves, float64(size)/1e6, p.said)
	p.tell(w)
	return holds(s, 3**records)
}

// simple is a configuration whose default makes only a Template.
const simple = "defaults: {portal: simple}\n"

// many pipes small definitions, as one stream, into a stand-in for a portal
// that only reads.
func many(w io.Writer, tmp string) error {
	if *small == 0 {
		return nil
	}
	s := newStandIn()
	defer s.close()
	over := filepath.Join(tmp, "templates")
	if err := os.Mkdir(over, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(over, "metadata.yaml"), []byte(simple), 0o644); err != nil {
		return err
	}
	p := pipe{tmp: tmp, base: s.server.URL, args: [][]string{nil, {"--templates", over}, nil}, feed: func(w io.Writer) error {
		for i := range *small {
			if _, err := fmt.Fprintf(w, smallDefinition, i); err != nil {
				return err
			}
		}
		return nil
	}}
	if err := p.run(); err != nil {
		return err
	}
	fmt.Fprintf(w, "the same over %d small definitions (%.0f MB), a Template each, to a server that only reads: %s, %d lines and %.0f MB there\n",
		*small, float64(*small*len(smallDefinition))/1e6, p.said, s.lines, float64(s.bytes)/1e6)
	p.tell(w)
	if s.lines != *small {
		return fmt.Errorf("%d lines arrived, want %d", s.lines, *small)
	}
	return nil
}

// smallDefinition has two fields.
const smallDefinition = `---
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xsmalls%[1]d.platform.example.org}
spec:
  group: platform.example.org
  names: {kind: XSmall%[1]d, plural: xsmalls%[1]d}
  claimNames: {kind: Small%[1]d, plural: smalls%[1]d}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}, zone: {type: string}}}}}}
`

// pipe is one run of the three programs in a pipe.
type pipe struct {
	tmp, base string
	// args are the arguments of each program.
	args [][]string
	// feed writes the input of the first program; nil if that reads files.
	feed func(io.Writer) error

	// Results: the last line of the last program, the total duration, and for
	// each program its CPU time in seconds and its peak memory in megabytes.
	said  string
	took  time.Duration
	used  []float64
	peaks []float64
}

func (p *pipe) run() error {
	p.used, p.peaks = make([]float64, len(programs)), make([]float64, len(programs))
	var said bytes.Buffer
	errs := make([]bytes.Buffer, len(programs))
	cmds := make([]*exec.Cmd, len(programs))
	var ends []*os.File // These are the programs' ends, which this process closes.
	var from *os.File
	var feeding sync.WaitGroup
	var feedErr error
	begin := time.Now()
	if p.feed != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		from, ends = r, append(ends, r)
		feeding.Go(func() {
			out := bufio.NewWriterSize(w, 64<<10)
			feedErr = errors.Join(p.feed(out), out.Flush(), w.Close())
		})
	}
	for i, name := range programs {
		cmd := exec.Command(filepath.Join(p.tmp, name), p.args[i]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.Stderr = &errs[i]
		if from != nil {
			cmd.Stdin = from
		}
		if i < len(programs)-1 {
			r, w, err := os.Pipe()
			if err != nil {
				return err
			}
			cmd.Stdout, from, ends = w, r, append(ends, r, w)
		} else {
			cmd.Stdout = &said
			cmd.Args = append(cmd.Args, "--api-url", p.base, "--provider", "bench", "--timeout", "10m")
			cmd.Env = append(os.Environ(), "PORTAL_TOKEN="+backend.Token)
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		cmds[i] = cmd
	}
	for _, f := range ends {
		if err := f.Close(); err != nil {
			return err
		}
	}
	var watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() { p.watch(cmds, done) })
	var failures []error
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w\n%s", programs[i], err, errs[i].String()))
		}
		p.used[i] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	p.took = time.Since(begin)
	close(done)
	watching.Wait()
	feeding.Wait()
	p.said = strings.TrimSpace(said.String())
	return errors.Join(append(failures, feedErr)...)
}

// watch records the peak memory of the programs while they run. The figures of
// an ended process would include the memory of its parent.
func (p *pipe) watch(cmds []*exec.Cmd, done <-chan struct{}) {
	for {
		for i, cmd := range cmds {
			if peak, err := backend.Memory(cmd.Process.Pid, "VmHWM"); err == nil {
				p.peaks[i] = max(p.peaks[i], peak)
			}
		}
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tell prints the results.
func (p *pipe) tell(w io.Writer) {
	fmt.Fprintf(w, "  %.1f s on the clock\n", p.took.Seconds())
	for i, name := range programs {
		fmt.Fprintf(w, "  %s: %.0f MB resident at most (wanted: under %d), %.1f s of processor time\n", name, p.peaks[i], wantedMemory, p.used[i])
	}
}
