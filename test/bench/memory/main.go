// Command memory measures the most memory that ingestor-cli and portal-backend
// take over a folder of definitions in JSON, a file each: with 3,000 files and with
// ten times as many.
//
//	go run ./test/bench/memory
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.dev/ingestor/test/process"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/tree"
)

// What is wanted, in MB, however many files there are.
const (
	wantedCommand = 500
	wantedService = 250
)

var (
	few  = flag.Int("few", 3000, "how many files at first")
	many = flag.Int("many", 30_000, "how many files then")
)

func main() {
	flag.Parse()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	tmp, err := os.MkdirTemp("", "memory-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if out, err := exec.Command("go", "build", "-trimpath", "-o", tmp+string(filepath.Separator), "./cmd/ingestor-cli", "./cmd/portal-backend").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	for _, p := range []struct {
		name   string
		peak   func(tmp, in string, n int) (int, error)
		wanted int
	}{{"ingestor-cli", command, wantedCommand}, {"portal-backend", service, wantedService}} {
		var peaks []int
		for _, n := range []int{*few, *many} {
			in, err := folder(tmp, n)
			if err != nil {
				return err
			}
			peak, err := p.peak(tmp, in, n)
			if err != nil {
				return fmt.Errorf("cannot measure %s: %w", p.name, err)
			}
			peaks = append(peaks, peak)
		}
		fmt.Fprintf(w, "%s: %d MB at most with %d files, %d MB with %d, which is %.2f times as much (wanted: at most %d MB)\n",
			p.name, peaks[0], *few, peaks[1], *many, float64(peaks[1])/float64(peaks[0]), p.wanted)
	}
	return nil
}

// folder returns a folder of n definitions.
func folder(tmp string, n int) (string, error) {
	at := filepath.Join(tmp, fmt.Sprint(n))
	if _, err := os.Stat(at); err == nil {
		return at, nil
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		return "", err
	}
	for i := range n {
		docs, errs := tree.DecodeBytes(sample.Definition(i))
		if len(docs) != 1 || len(errs) > 0 {
			return "", fmt.Errorf("cannot read the sample: %v", errs)
		}
		text := tree.AppendJSON(nil, docs[0], " ")
		if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("d%05d.json", i)), text, 0o600); err != nil {
			return "", err
		}
	}
	return at, nil
}

// command runs ingestor-cli and returns how much memory it took, in MB.
func command(tmp, in string, n int) (int, error) {
	to := filepath.Join(tmp, "entities")
	defer func() { _ = os.RemoveAll(to) }()
	cmd := exec.Command(filepath.Join(tmp, "ingestor-cli"), in, "--output", to)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("%d entities", 3*n)) {
		return 0, fmt.Errorf("%w: %s", errors.Join(err, errors.New("not all entities were made")), out)
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("the system does not tell")
	}
	return int(used.Maxrss * 1024 / 1e6), nil
}

// token is that of a service.
const token = "bench-token-of-a-service"

const configuration = `
backend:
  baseUrl: http://%[1]s
  listen: %[1]s
  auth: { externalAccess: [{ type: static, options: { token: %[4]s, subject: bench } }] }
  database: { client: sqlite, connection: { filename: %[2]s } }
composerIngestor:
  schedule: { frequency: 1h, timeout: 1h }
  sources: [{ name: files, type: file, path: %[3]s }]
`

// service starts portal-backend, waits until all entities are made, and returns
// how much memory it took, in MB.
func service(tmp, in string, n int) (int, error) {
	dir, err := os.MkdirTemp(tmp, "service-")
	if err != nil {
		return 0, err
	}
	port, err := process.FreePort()
	if err != nil {
		return 0, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	config := filepath.Join(dir, "app-config.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, configuration, address, filepath.Join(dir, "portal.sqlite"), in, token), 0o600); err != nil {
		return 0, err
	}
	log := &process.Log{}
	cmd := exec.Command(filepath.Join(tmp, "portal-backend"), "--config", config)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	p, err := process.Start(cmd)
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	for deadline := time.Now().Add(time.Duration(n) * 100 * time.Millisecond); ; time.Sleep(time.Second) {
		select {
		case <-p.Ended():
			return 0, fmt.Errorf("portal-backend exited:\n%s", log.Tail())
		default:
		}
		if generated(address) == 3*n {
			return peak(p.PID())
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("%d entities, want %d:\n%s", generated(address), 3*n, log.Tail())
		}
	}
}

// generated returns how many entities a service has made; -1 if it does not say,
// as before it is ready.
func generated(address string) int {
	req, err := http.NewRequest(http.MethodGet, "http://"+address+"/api/composer-ingestor/health", http.NoBody)
	if err != nil {
		return -1
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return -1
	}
	defer func() { _ = resp.Body.Close() }()
	health := struct {
		EntitiesGenerated int `json:"entitiesGenerated"`
	}{-1}
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil {
		return -1
	}
	return health.EntitiesGenerated
}

// peak returns the most memory that a process had, in MB.
func peak(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kB, err := strconv.Atoi(number)
	return kB * 1024 / 1e6, err
}
