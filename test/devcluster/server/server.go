// Package server runs a Kubernetes API server, its etcd and the controllers
// that clients depend on, in this process and on the loopback interface only.
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

// Options are the settings of a Server.
type Options struct {
	// Port is the port on 127.0.0.1. Zero means the previous one of this folder
	// or, the first time, a free one.
	Port int
	// Args are further arguments of kube-apiserver.
	Args []string
}

// Server is a running API server.
type Server struct {
	// Kubeconfig is the path of the administrator's kubeconfig, Config the same
	// as a value.
	Kubeconfig string
	Config     *rest.Config
	// Failed receives an error when the API server ends.
	Failed <-chan error

	// stops stop the components, the last one first. Each returns when its
	// component has ended.
	stops []func()
	// stopping is true after Stop was called.
	stopping atomic.Bool
}

// Start starts a server with its state in the folder, and waits until it is
// ready. The process then works in that folder, and can start no second server.
// The caller stops the server.
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
	// The API server outlives ctx, because it is stopped after the controllers.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	failed, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		err := run(running)
		if err == nil {
			err = errors.New("API server stopped by itself")
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

// patience is how long each component may take to stop. Components that take
// longer end with the process; no written data is lost.
const patience = 1500 * time.Millisecond

// Stop stops the server within a few seconds, whatever requests are pending.
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
