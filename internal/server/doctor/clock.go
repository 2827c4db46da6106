package doctor

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source"
)

// clock compares the clock of this machine with that of the database. SQLite has none,
// but times that were stored in it must not be in the future.
func (e *examination) clock(ctx context.Context, i *db.Inspection, current bool) {
	const check = "clock"
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	ahead, ok, err := i.Skew(ctx)
	if err != nil {
		e.failed(check, err)
		return
	}
	if ok {
		e.skew("the database", ahead, 0)
		return
	}
	if !current {
		return
	}
	last, err := mirror.New(&i.DB).LastRun(ctx)
	if err != nil {
		e.failed(check, err)
		return
	}
	if ahead := last.Sub(e.Now()); ahead > skewWarning {
		e.add(check, Warning, setClock, "the last stored run of ingestion began %v in the future", ahead.Round(time.Second))
		return
	}
	e.add(check, OK, "", "not behind stored times")
}

// setClock is the hint for a wrong clock.
const setClock = "synchronize the clocks with NTP: times of tasks, tokens and certificates depend on them"

// skew reports by how much another clock is ahead. unsure is the error of the
// measurement.
func (e *examination) skew(whose string, ahead, unsure time.Duration) {
	const check = "clock"
	far := max(ahead.Abs()-unsure, 0)
	direction := "ahead of"
	if ahead < 0 {
		direction = "behind"
	}
	if far <= skewWarning {
		e.add(check, OK, "", "within %v of %s", skewWarning, whose)
		return
	}
	status := Warning
	if far > skewError {
		status = Error
	}
	e.add(check, status, setClock, "%s is %v %s this machine", whose, ahead.Abs().Round(time.Second), direction)
}

// clusters compares the clocks of clusters whose address is configured. No credentials
// are sent, and a response of any status has the time.
func (e *examination) clusters(ctx context.Context) {
	const within = 5 * time.Second
	client := &http.Client{Timeout: within, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true, //nolint:gosec // only the time is read
		},
	}}
	var all []source.Cluster
	for _, c := range e.Config.Clusters() {
		if c.URL != "" {
			all = append(all, c)
		}
	}
	type reading struct {
		ahead time.Duration
		err   error
	}
	read := make([]reading, len(all))
	var wg sync.WaitGroup
	for n, c := range all {
		wg.Go(func() { read[n].ahead, read[n].err = e.clusterAhead(ctx, client, c.URL) })
	}
	wg.Wait()
	for n, c := range all {
		if err := read[n].err; err != nil {
			e.add("clock", Warning, "check that the cluster's API server is running, and that this machine can reach it", "cannot read the time of cluster %s: %v", c.Name, err)
			continue
		}
		// The time of a response is in whole seconds.
		e.skew("cluster "+c.Name, read[n].ahead, time.Second)
	}
}

// clusterAhead returns by how much the clock of an API server is ahead.
func (e *examination) clusterAhead(ctx context.Context, client *http.Client, at string) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, strings.TrimSuffix(at, "/")+"/version", nil)
	if err != nil {
		return 0, err
	}
	before := e.Now()
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	_ = res.Body.Close()
	there, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return 0, err
	}
	after := e.Now()
	return there.Sub(before.Add(after.Sub(before) / 2)), nil
}
