package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/test/bench/backend"
)

// server is a running portal-backend.
type server struct{ *backend.Backend }

// start starts the program with a database and further configuration.
func start(tmp, program, database, more string) (*server, error) {
	b, err := backend.Start(backend.Options{Dir: tmp, Program: program, Database: database, Config: more})
	return &server{b}, err
}

// rate is the result of wrk with the CPU time of the server.
type rate struct{ perCPU, perSecond, megabytes float64 }

// load sends requests with wrk.
func (s *server) load(tmp string, entities int, path string) (rate, error) {
	script := fmt.Sprintf("local components = %d\nlocal kinds = {%s}\nlocal types = {\"service\", \"website\", \"library\"}\nwrk.headers[\"Authorization\"] = \"Bearer %s\"\nlocal function path()\n%s\nend\nfunction request() return wrk.format(\"GET\", path()) end\n",
		entities/perTen*6, weighted(), backend.Token, path)
	at := filepath.Join(tmp, "load.lua")
	if err := os.WriteFile(at, []byte(script), 0o600); err != nil {
		return rate{}, err
	}
	run := func(d time.Duration) (string, error) {
		out, err := exec.Command("wrk", "-t2", "-c16", fmt.Sprintf("-d%ds", int(d.Seconds())), "-s", at, s.Base).CombinedOutput()
		return string(out), err
	}
	if out, err := run(time.Second); err != nil {
		return rate{}, fmt.Errorf("%w: %s", err, out)
	}
	before, err := s.CPU()
	if err != nil {
		return rate{}, err
	}
	begin := time.Now()
	out, err := run(*duration)
	if err != nil {
		return rate{}, fmt.Errorf("%w: %s", err, out)
	}
	took := time.Since(begin).Seconds()
	after, err := s.CPU()
	if err != nil {
		return rate{}, err
	}
	if strings.Contains(out, "Non-2xx") || strings.Contains(out, "Socket errors") {
		return rate{}, fmt.Errorf("some requests failed:\n%s", out)
	}
	m := regexp.MustCompile(`(\d+) requests in [\d.]+\w+, ([\d.]+)([KMG]?)B read`).FindStringSubmatch(out)
	if m == nil {
		return rate{}, fmt.Errorf("cannot parse the output of wrk:\n%s", out)
	}
	requests, _ := strconv.ParseFloat(m[1], 64) // The text consists of digits.
	read, _ := strconv.ParseFloat(m[2], 64)
	megabytes := read * map[string]float64{"": 1e-6, "K": 1e-3, "M": 1, "G": 1e3}[m[3]]
	return rate{requests / (after - before), requests / took, megabytes / took}, nil
}

// weighted returns the kinds, each repeated by its share of ten entities.
func weighted() string {
	var all []string
	for _, k := range kinds {
		for range k.of {
			all = append(all, strconv.Quote(k.name))
		}
	}
	return strings.Join(all, ", ")
}
