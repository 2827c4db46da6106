// Package server runs a Kubernetes API server, the etcd behind it and the
// controllers it cannot do without, in this process and on the loopback
// interface only.
package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.dev/ingestor/test/devcluster/identity"
)

// Options are how a Server runs.
type Options struct {
	// Port is the port on 127.0.0.1. Zero means the one used before in this
	// folder or, the first time, a free one.
	Port int
	// Args are further arguments of kube-apiserver.
	Args []string
}

// Server is a running API server.
type Server struct {
	// Kubeconfig is the path of the administrator's kubeconfig, and Config the
	// same as a value.
	Kubeconfig string
	Config     *rest.Config
	// Failed yields an error when the API server ends.
	Failed <-chan error

	// stops end the parts, the last one first. Each returns when its part has
	// ended.
	stops []func()
	// stopping is true from the call of Stop on.
	stopping atomic.Bool
}

// Start starts a server with its state in the folder, and returns when it is
// ready. The process then works in that folder, and can start no second server.
// A server that starts is to be stopped.
func Start(ctx context.Context, in *Folder, opts Options) (*Server, error) {
	s := &Server{}
	if err := s.start(ctx, in.path, opts); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, dir string, opts Options) error {
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("cannot use the folder: %w", err)
	}
	if err := s.logToFile(); err != nil {
		return err
	}
	id, err := identity.Open(dir, opts.Port)
	if err != nil {
		return err
	}
	etcd, err := startEtcd(ctx)
	if err != nil {
		_ = id.Listener.Close()
		return err
	}
	s.stops = append(s.stops, etcd.Close)
	s.Config, s.Kubeconfig = id.Config(), id.Path(identity.Kubeconfig)
	if err := s.serve(ctx, id, opts.Args); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return fmt.Errorf("cannot reach the API server: %w", err)
	}
	if err := waitReady(ctx, client, s.Failed); err != nil {
		return err
	}
	if err := s.control(); err != nil {
		return err
	}
	return id.WriteKubeconfig()
}

// serve starts the API server.
func (s *Server) serve(ctx context.Context, id *identity.Identity, args []string) error {
	run, err := newAPIServer(ctx, id, args)
	if err != nil {
		_ = id.Listener.Close()
		return err
	}
	// It outlives ctx, because it is stopped after the controllers.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	failed, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		err := run(running)
		if err == nil {
			err = errors.New("it stopped by itself")
		}
		failed <- err
	}()
	s.Failed = failed
	s.stops = append(s.stops, func() {
		cancel()
		<-ended
	})
	return nil
}

// control starts the controllers.
func (s *Server) control() error {
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := startControllers(ctx, s.Config)
	if err != nil {
		cancel()
		return err
	}
	s.stops = append(s.stops, func() {
		cancel()
		wait()
	})
	return nil
}

// patience is how long each part has to end. What has not ended by then ends
// with the process; nothing that was written is lost by it.
const patience = 1500 * time.Millisecond

// Stop stops the server within a few seconds, whatever clients still want of
// it.
func (s *Server) Stop() {
	s.stopping.Store(true)
	for _, stop := range slices.Backward(s.stops) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			stop()
		}()
		select {
		case <-ended:
		case <-time.After(patience):
		}
	}
	klog.Flush()
}
