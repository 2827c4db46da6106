package provide

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/sink/spool"
	"example.dev/ingestor/source/file"
)

const (
	defaultListen = "127.0.0.1:7010"
	// parting is the grace period for requests at shutdown.
	parting = 5 * time.Second
)

// serve is the command serve.
type serve struct {
	*common
	connection
	listen, publicURL string
	noRegister        bool
	interval          time.Duration

	// portal is the portal to register at; nil if there is none.
	portal *portal.Portal
	offer  offer
	log    *slog.Logger
}

func newServe(env *app.Env) *cobra.Command {
	s := &serve{common: newCommon(env, "nothing is served")}
	cmd := &cobra.Command{
		Use:   "serve [options] [files...]",
		Short: "Serve entities at a URL that a portal reads",
		Long: `Serves entities at one URL, for portals without a push API, such as Backstage:
/catalog.yaml has them as YAML documents, /catalog.ndjson as JSON objects one per
line, each with an ETag that changes when they do. /healthz is the health check.
It runs until it is stopped (Ctrl-C, SIGTERM).

With --api-url it registers the URL as a location of that portal, which then
reads it periodically. The portal must be able to reach it: set the address as
seen from the portal with --public-url. The portal must also be allowed to read
it (backend.reading.allow in its configuration), and to accept its kinds of
entities (catalog.rules).

Files and directories are read again when they change. If the new content is
invalid, the previous entities are still served, and the reason is logged.

Exit codes: 0 stopped on request, 1 failure, 2 validation failed, 3 nothing to
serve, 4 invalid flags.`,
		Example: `  # Serve a directory, and register it in Backstage
  portal-provide serve catalog-entities/ --api-url http://localhost:7007 --token-file token

  # In a cluster, under the name of its Service
  portal-provide serve /entities --listen 0.0.0.0:7010 --public-url http://entities.portal.svc:7010 --api-url http://backstage.portal.svc`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: flags.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.settle(flags.Given(cmd.Flags()), args); err != nil {
				return err
			}
			return s.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", defaultListen, "`address` to listen on")
	f.StringVar(&s.publicURL, "public-url", "", "`address` at which the portal reaches it (default: http:// and the listen address)")
	s.connection.bind(f, ", to register the URL at")
	f.BoolVar(&s.noRegister, "no-register", false, "do not register the URL")
	f.DurationVar(&s.interval, "interval", time.Minute, "how often files are also read again without a change; 0 means never")
	f.BoolVar(&s.allowEmpty, "allow-empty", false, "serve an input without entities, which removes all existing ones")
	s.common.bind(f)
	s.Output.Bind(f)
	return cmd
}

func (s *serve) settle(given map[string]bool, paths []string) error {
	if err := s.common.settle(given, paths); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil {
		return flags.Usagef("use a host and a port, such as "+defaultListen, "cannot listen on %q", s.listen)
	}
	if s.interval < 0 {
		return flags.Usagef("use a duration such as 1m, or 0", "cannot use interval %v", s.interval)
	}
	if u, err := url.Parse(s.publicURL); s.publicURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		return flags.Usagef("use an address such as http://entities.example.org:7010", "cannot use the public URL: not an address that a portal can read")
	}
	if s.url == "" || s.noRegister {
		return nil
	}
	if s.publicURL == "" && isEverywhere(host) {
		return flags.Usagef("add --public-url", "cannot register %s: not an address that a portal can read", s.listen)
	}
	s.portal, err = s.connect(s.Env, portal.Options{Retries: -1})
	return err
}

// isEverywhere reports whether a host to listen on is a wildcard address.
func isEverywhere(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func (s *serve) run(ctx context.Context, paths []string) error {
	if err := s.load(ctx, paths); err != nil {
		return err
	}
	defer s.offer.close()
	l, err := s.bindTo(ctx)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	switch {
	case s.Quiet:
		level = slog.LevelError
	case s.Detailed():
		level = slog.LevelDebug
	}
	s.log = slog.New(slog.NewTextHandler(s.Env.Stderr, &slog.HandlerOptions{Level: level}))
	address := strings.TrimRight(s.publicURL, "/")
	if address == "" {
		address = "http://" + l.Addr().String()
	}
	address += pathYAML
	if err := s.write(fmt.Sprintf("serving %s at %s\n", output.Count(s.offer.now.entities, "entity", "entities"), address)); err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	if s.portal != nil {
		others.Go(func() { s.register(ctx, address) })
	}
	// Standard input can be read only once.
	if len(paths) > 0 && !slices.Contains(paths, file.Stdin) {
		others.Go(func() { s.follow(ctx, paths) })
	}
	err = s.answer(ctx, l)
	cancel()
	others.Wait()
	return err
}

// bindTo opens the port.
func (s *serve) bindTo(ctx context.Context) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("cannot listen on %s: address is in use by another program", s.listen), Hint: "stop that program, or choose another port with --listen"}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", s.listen, err)
	}
	return l, nil
}

// answer serves requests until ctx ends, and then finishes running requests.
func (s *serve) answer(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.offer.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 10 * time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("cannot serve: %w", err)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	if err := server.Shutdown(late); err != nil {
		_ = server.Close()
	}
	return nil
}

// load reads the input and serves it.
func (s *serve) load(ctx context.Context, paths []string) error {
	got, err := s.gather(ctx, paths, spool.Options{})
	if err != nil {
		return err
	}
	c, err := newContent(got)
	if err != nil {
		return err
	}
	s.offer.put(c)
	return nil
}
