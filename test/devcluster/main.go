// Command devcluster is a Kubernetes API server for tests and demonstrations:
// a real one, with its etcd, in one process on the loopback interface, ready in
// seconds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"example.dev/ingestor/test/devcluster/kube"
	"example.dev/ingestor/test/devcluster/manifest"
)

const usage = `devcluster is a Kubernetes API server for tests: a real one, with its etcd, in one process.

  devcluster serve --dir DIR [flags]                 run a server, its state in DIR
  devcluster apply --kubeconfig F FILE_OR_DIR...     create or change objects
  devcluster delete --kubeconfig F FILE_OR_DIR...    delete objects and wait until they are gone
  devcluster token --kubeconfig F --namespace NS --service-account NAME
                                                     print a token of a service account
  devcluster crds                                    print the folder of Crossplane's CRDs

Run "devcluster COMMAND -h" for the flags of a command.
`

// stderr is the real standard error. A server redirects os.Stderr, where its
// libraries write, to its log.
var stderr = *os.Stderr

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(&stderr, "devcluster:", err)
		os.Exit(1)
	}
}

// run runs a command.
func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("cannot run: no command is given; try devcluster help")
	}
	name, args := args[0], args[1:]
	switch name {
	case "serve":
		return serve(ctx, args, stdin, stdout)
	case "apply":
		return change(ctx, name, args, stdin, (*kube.Client).Apply)
	case "delete":
		return change(ctx, name, args, stdin, (*kube.Client).Delete)
	case "token":
		return token(ctx, args, stdout)
	case "crds":
		return crds(ctx, args, stdout)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return nil
	}
	return fmt.Errorf("cannot run %q: unknown command; try devcluster help", name)
}

// command has the flags of a command.
type command struct {
	*flag.FlagSet
	kubeconfig string
}

func newCommand(name string) *command {
	c := &command{FlagSet: flag.NewFlagSet("devcluster "+name, flag.ContinueOnError)}
	c.SetOutput(io.Discard)
	return c
}

// parse parses the flags. Help is printed to standard error.
func (c *command) parse(args []string) error {
	err := c.Parse(args)
	if err == nil {
		return nil
	}
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(&stderr, "flags of %s:\n", c.Name())
		c.SetOutput(&stderr)
		c.PrintDefaults()
		return err
	}
	return fmt.Errorf("cannot parse the flags of %s: %w", c.Name(), err)
}

// open parses the flags and returns a client of the cluster they name.
func (c *command) open(args []string) (*kube.Client, error) {
	c.StringVar(&c.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig `file` of the cluster; $KUBECONFIG by default")
	if err := c.parse(args); err != nil {
		return nil, err
	}
	if c.kubeconfig == "" {
		return nil, errors.New("cannot reach a cluster: give --kubeconfig")
	}
	return kube.Open(c.kubeconfig)
}

// xrCRDs describes the flag that creates the kinds of definitions.
const xrCRDs = "also define the kinds that composite resource definitions describe"

// withComposites adds the CustomResourceDefinitions of definitions.
func withComposites(objects []manifest.Object) ([]manifest.Object, error) {
	all := objects
	for _, o := range objects {
		if !manifest.IsDefinition(o) {
			continue
		}
		made, err := manifest.Composites(o)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// change applies or deletes the objects of files.
func change(ctx context.Context, name string, args []string, stdin io.Reader,
	do func(*kube.Client, context.Context, []manifest.Object) error) error {
	c := newCommand(name)
	composites := c.Bool("xr-crds", false, xrCRDs)
	timeout := c.Duration("timeout", 2*time.Minute, "how long it may take")
	client, err := c.open(args)
	if err != nil {
		return err
	}
	if c.NArg() == 0 {
		return fmt.Errorf("cannot %s: no file given", name)
	}
	objects, err := manifest.Read(c.Args(), stdin)
	if err != nil {
		return err
	}
	if *composites {
		if objects, err = withComposites(objects); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	return do(client, ctx, objects)
}

// token prints a token.
func token(ctx context.Context, args []string, stdout io.Writer) error {
	c := newCommand("token")
	namespace := c.String("namespace", "default", "`name` of the namespace; it is made if it is missing")
	account := c.String("service-account", "default", "`name` of the service account; it is made if it is missing")
	good := c.Duration("duration", time.Hour, "how long the token is good for, ten minutes at least")
	client, err := c.open(args)
	if err != nil {
		return err
	}
	if c.NArg() > 0 {
		return fmt.Errorf("cannot get a token: unexpected argument %q", strings.Join(c.Args(), " "))
	}
	text, err := client.Token(ctx, *namespace, *account, *good)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, text)
	return nil
}

// crds prints the folder with the CustomResourceDefinitions of Crossplane.
func crds(ctx context.Context, args []string, stdout io.Writer) error {
	if err := newCommand("crds").parse(args); err != nil {
		return err
	}
	dir, err := manifest.CrossplaneDir(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, dir)
	return nil
}
