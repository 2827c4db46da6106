package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"example.dev/ingestor/test/bench/backend"
)

// usage is CPU time in hundredths of a second: of the whole machine, of the server, and of
// this process, the client.
type usage struct{ idle, steal, total, server, client float64 }

// readUsage returns the CPU time since the machine and the processes were started.
func readUsage(b *backend.Backend) (u usage, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u, err
	}
	// The fields are user, nice, system, idle, iowait, irq, softirq and steal.
	var v [8]float64
	if _, err := fmt.Sscanf(string(text), "cpu %g %g %g %g %g %g %g %g", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]); err != nil {
		return u, fmt.Errorf("cannot read CPU times in /proc/stat: %w", err)
	}
	u.idle, u.steal = v[3]+v[4], v[7]
	for _, f := range v {
		u.total += f
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return u, err
	}
	u.client = 100 * time.Duration(own.Utime.Nano()+own.Stime.Nano()).Seconds()
	u.server, err = b.CPU()
	u.server *= 100
	return u, err
}

// observe waits until a time. It returns the CPU time until then, and the largest resident
// memory of the server in megabytes.
func observe(b *backend.Backend, end time.Time) (u usage, rss float64, err error) {
	before, err := readUsage(b)
	if err != nil {
		return u, 0, err
	}
	for time.Now().Before(end) {
		now, err := b.Memory(backend.Resident)
		if err != nil {
			return u, 0, err
		}
		rss = max(rss, now)
		time.Sleep(min(time.Second, time.Until(end)))
	}
	after, err := readUsage(b)
	return after.add(-1, before), rss, err
}

// add returns u and k times o.
func (u usage) add(k float64, o usage) usage {
	return usage{u.idle + k*o.idle, u.steal + k*o.steal, u.total + k*o.total, u.server + k*o.server, u.client + k*o.client}
}

// busy returns the part of the time in which the machine was not idle. It includes the
// time that the hypervisor gave to other machines.
func (u usage) busy() float64 { return 1 - u.idle/u.total }

// percent returns a part of the total in percent.
func (u usage) percent(part float64) float64 { return 100 * part / u.total }

// fixedWork returns how long a fixed piece of CPU work takes, the median of five.
func fixedWork() time.Duration {
	block := make([]byte, 64<<20)
	took := make([]time.Duration, 5)
	for i := range took {
		begin := time.Now()
		sha256.Sum256(block)
		took[i] = time.Since(begin).Round(100 * time.Microsecond)
	}
	slices.Sort(took)
	return took[2]
}
