package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// socket is where etcd listens, relative to the folder of the cluster. The path
// of a socket is limited to about 100 bytes, so the process works in that
// folder.
const socket = "etcd.sock"

// etcdURL is the URL of the socket for the API server.
const etcdURL = "unix://" + socket

// startEtcd starts an etcd of one member in the working directory and waits
// until it is ready.
func startEtcd(ctx context.Context) (*embed.Etcd, error) {
	// A killed process leaves its socket behind.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot remove the old socket of etcd: %w", err)
	}
	// The log is preallocated; a small cluster needs little.
	wal.SegmentSizeBytes = 8 << 20

	c := embed.NewConfig()
	c.Dir = "etcd"
	c.LogLevel = "error"
	c.LogOutputs = []string{logFile}
	// Written data is in the page cache and survives the end of the process.
	// Only a power failure would lose it.
	c.UnsafeNoFsync = true
	c.QuotaBackendBytes = 4 << 30
	c.ListenClientUrls = []url.URL{{Scheme: "unix", Host: socket}}
	c.ListenPeerUrls = nil
	// The only member elects itself after this timeout.
	c.TickMs, c.ElectionMs = 10, 100
	// These addresses are required but not used.
	c.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2379"}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	c.InitialCluster = c.InitialClusterFromName(c.Name)

	e, err := embed.StartEtcd(c)
	if err != nil {
		return nil, fmt.Errorf("cannot start etcd: %w; see %s in its folder", err, logFile)
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, nil
	case err = <-e.Err():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	e.Close()
	return nil, fmt.Errorf("cannot start etcd: %w", err)
}
