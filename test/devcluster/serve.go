package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"example.dev/ingestor/test/devcluster/kube"
	"example.dev/ingestor/test/devcluster/manifest"
	readiness "example.dev/ingestor/test/devcluster/ready"
	"example.dev/ingestor/test/devcluster/server"
)

// errAbandoned is the cause when a temporary server stops because its parent
// has ended.
var errAbandoned = errors.New("standard input ended")

// list is a flag that can be repeated.
type list []string

func (l *list) String() string { return "" }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// serve runs a server until ctx ends. It prints one line when it is ready.
func serve(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	began := time.Now()
	c := newCommand("serve")
	var opts server.Options
	var files list
	dir := c.String("dir", "", "`folder` of the server's state; what is in it survives a restart")
	c.IntVar(&opts.Port, "port", 0, "port on 127.0.0.1; by default the one used before, or a free one")
	c.Var((*list)(&opts.Args), "apiserver-arg", "further `argument` of kube-apiserver, such as --request-timeout=5s; repeatable")
	words := c.String("crds", string(manifest.Crossplane), "which definitions and compositions there are: crossplane, composer, both or none")
	c.Var(&files, "apply", "`file or folder` of objects to apply; repeatable")
	composites := c.Bool("xr-crds", false, xrCRDs)
	after := c.Duration("ready-after", 0, "let composites and claims become ready so long after they were made, as their controller would; 0 leaves them alone")
	temporary := c.Bool("temporary", false, "stop when standard input ends, and remove the folder then, which must be empty at first")
	if err := c.parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("cannot serve: give --dir")
	}
	if c.NArg() > 0 {
		return fmt.Errorf("cannot serve: unexpected argument %q", c.Arg(0))
	}
	if *after < 0 {
		return fmt.Errorf("cannot serve: --ready-after is %v, but must not be negative", *after)
	}
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	if *temporary {
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			abandon(errAbandoned)
		}()
	}
	folder, err := server.Claim(*dir, *temporary)
	if err != nil {
		return err
	}
	defer folder.Leave()
	objects, err := toApply(ctx, manifest.Words(*words), files, *composites)
	if err == nil {
		err = runServer(ctx, folder, opts, *after, objects, func(kubeconfig string) {
			fmt.Fprintf(stdout, "ready in %.1fs: KUBECONFIG=%s\n", time.Since(began).Seconds(), kubeconfig)
		})
	}
	if ctx.Err() == nil {
		return err
	}
	// The server was told to stop; other errors are a consequence.
	if *temporary && errors.Is(context.Cause(ctx), errAbandoned) {
		return folder.Remove()
	}
	return nil
}

// toApply returns the initial objects of a new server.
func toApply(ctx context.Context, words manifest.Words, files []string, composites bool) ([]manifest.Object, error) {
	objects, err := manifest.CRDs(ctx, words)
	if err != nil {
		return nil, err
	}
	given, err := manifest.Read(files, nil)
	if err != nil {
		return nil, err
	}
	objects = append(objects, given...)
	if composites {
		return withComposites(objects)
	}
	return objects, nil
}

// runServer runs a server until ctx ends or it fails. Composites become ready
// the given time after their creation, or never if it is zero.
func runServer(ctx context.Context, in *server.Folder, opts server.Options, after time.Duration, objects []manifest.Object, ready func(kubeconfig string)) error {
	s, err := server.Start(ctx, in, opts)
	if err != nil {
		return err
	}
	defer s.Stop()
	client, err := kube.New(s.Config)
	if err != nil {
		return err
	}
	if err := client.Apply(ctx, objects); err != nil {
		return err
	}
	if err := client.AwaitKinds(ctx); err != nil {
		return err
	}
	if after > 0 {
		controlling, stop := context.WithCancel(ctx)
		wait, err := readiness.Start(controlling, s.Config, after)
		if err != nil {
			stop()
			return err
		}
		defer func() {
			stop()
			wait()
		}()
	}
	ready(s.Kubeconfig)
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.Failed:
		return fmt.Errorf("server failed: API server ended: %w", err)
	}
}
