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
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"example.dev/ingestor/test/sample"
)

// programs are those of the pipe, in their order.
var programs = []string{"xrd-extract", "xrd-transform", "portal-provide"}

// large sends definitions of 61 leaf fields, a file each, into a real
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
	defer s.stop()
	p := pipe{tmp: tmp, base: s.base, args: [][]string{{"--path", in}, nil, nil}}
	if err := p.run(); err != nil {
		return fmt.Errorf("%w\n%s", err, s.log.String())
	}
	fmt.Fprintf(w, "%s over %d definitions of %d leaf fields (%.0f MB), into a portal-backend on SQLite: %s\n",
		strings.Join(programs, " | "), *records, sample.Leaves, float64(size)/1e6, p.said)
	p.tell(w)
	return s.holds(3 * *records)
}

// simple is a folder whose default makes a Template alone.
const simple = "defaults: {portal: simple}\n"

// many sends small definitions, as one stream, to what stands for a portal and
// reads all it is sent.
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

// pipe is one run of the three programs with pipes of the system between them.
type pipe struct {
	tmp, base string
	// args are those of each program.
	args [][]string
	// feed writes what the first reads; nil if that reads files.
	feed func(io.Writer) error

	// What was seen: the last line of the last program, how long all took, and
	// of each its processor time in seconds and its peak memory in megabytes.
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
	var ends []*os.File // Those of the programs, which this one has no use for.
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
			cmd.Env = append(os.Environ(), "PORTAL_TOKEN="+token)
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

// watch notes the peak memory of the programs for as long as they run. What the
// system says of a process that has ended counts in what its parent held.
func (p *pipe) watch(cmds []*exec.Cmd, done <-chan struct{}) {
	for {
		for i, cmd := range cmds {
			if peak, err := memory(cmd.Process.Pid, "VmHWM"); err == nil {
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

// tell writes what was seen.
func (p *pipe) tell(w io.Writer) {
	fmt.Fprintf(w, "  %.1f s on the clock\n", p.took.Seconds())
	for i, name := range programs {
		fmt.Fprintf(w, "  %s: %.0f MB resident at most (wanted: under %d), %.1f s of processor time\n", name, p.peaks[i], wantedMemory, p.used[i])
	}
}

// memory returns a figure of the memory of a process, in megabytes.
func memory(pid int, figure string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(figure + `:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0, fmt.Errorf("cannot find the memory of process %d", pid)
	}
	kilobytes, err := strconv.ParseFloat(string(m[1]), 64)
	return kilobytes / 1000, err
}
