package portal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"example.dev/ingestor/action"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
)

// Values of flags.
var (
	levels  = []string{"debug", "info", "warn", "error"}
	formats = []string{"auto", "text", "json"}
)

// serving is the command without a subcommand.
type serving struct {
	voice         *output.Output
	config        []string
	level, format string
	actions       []action.Action
	extension     engine.Extension
}

func (s *serving) run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	c, err := load(s.voice, s.config)
	if err != nil {
		return err
	}
	release, err := server.Acquire(c.Backend.Database)
	if err != nil {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: server.Hint(err, c)}
	}
	return errors.Join(s.serve(ctx, c), release())
}

// serve runs the portal until ctx ends.
func (s *serving) serve(ctx context.Context, c *config.Config) error {
	log, err := s.logger(c.Backend.LogLevel)
	if err != nil {
		return err
	}
	p, err := server.New(ctx, server.Options{Config: c, Build: app.BuildVersion(), Now: s.voice.Env.Now, Log: log, Actions: s.actions, Extension: s.extension, Stdout: s.voice.Env.Stdout})
	if err != nil {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: server.Hint(err, c)}
	}
	l, err := listen(ctx, c.Backend.Listen)
	if err != nil {
		return errors.Join(err, p.Close())
	}
	go app.BoundMemory(ctx, app.ServerRoom)
	s.welcome(c, l.Addr())
	log.Info("started", "version", app.BuildVersion(), "address", l.Addr().String(), "baseUrl", c.Backend.BaseURL, "database", c.Backend.Database.Client)
	err = errors.Join(p.Run(ctx, l), p.Close())
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// listen opens the port.
func listen(ctx context.Context, at config.Listen) (net.Listener, error) {
	address := net.JoinHostPort(at.Host, strconv.Itoa(at.Port))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("cannot listen on %s: address is in use by another program", address),
			Hint: "stop that program, or set backend.listen to another port"}
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return l, nil
}

// welcome prints the URLs of the portal.
func (s *serving) welcome(c *config.Config, at net.Addr) {
	base, out := c.Backend.BaseURL, s.voice.Env.Stdout
	if c.Audit.To == config.AuditStdout {
		// Keep standard output for the audit log alone.
		out = s.voice.Env.Stderr
	}
	fmt.Fprintf(out, "%s is at %s (listening on %s). Ctrl-C stops it.\n", c.App.Title, base, at)
	if c.Auth.Guest.Enabled {
		fmt.Fprintf(out, "Look around as a guest:\n"+
			"  token=$(curl -s -X POST %[1]s/api/auth/guest/refresh | sed 's/.*\"token\":\"\\([^\"]*\\)\".*/\\1/')\n"+
			"  curl -H \"Authorization: Bearer $token\" '%[1]s/api/catalog/entities?filter=kind=template&fields=metadata.name'\n", base)
	}
	if c.Composer.Enabled || c.ClusterIngestor.Enabled {
		fmt.Fprintf(out, "Ingestion status, with a token: %s/api/composer-ingestor/health\n", base)
	}
	fmt.Fprintf(out, "Health is at %[1]s/health/ready, metrics at %[1]s/metrics.\n", base)
}

// check validates the flags, and applies --verbose.
func (s *serving) check() error {
	see := "see " + Name + " --help"
	if s.voice.Verbose {
		if s.level != "" && s.level != levels[0] {
			return flags.Usagef("remove one of them; --verbose is --log-level "+levels[0], "cannot use --verbose and --log-level %s together", s.level)
		}
		s.level = levels[0]
	}
	if s.level != "" && !slices.Contains(levels, s.level) {
		return flags.Usagef(see, "cannot use --log-level %q: want %s", s.level, strings.Join(levels, ", "))
	}
	if !slices.Contains(formats, s.format) {
		return flags.Usagef(see, "cannot use --log-format %q: want %s", s.format, strings.Join(formats, ", "))
	}
	return nil
}

// logger returns the logger of the program. The flag overrides the configured
// level.
func (s *serving) logger(level slog.Level) (*slog.Logger, error) {
	if s.level != "" {
		if err := level.UnmarshalText([]byte(s.level)); err != nil {
			return nil, err
		}
	}
	opts := &slog.HandlerOptions{Level: level}
	env := s.voice.Env
	if s.format == "text" || s.format == "auto" && env.StderrTerminal {
		return slog.New(slog.NewTextHandler(env.Stderr, opts)), nil
	}
	return slog.New(slog.NewJSONHandler(env.Stderr, opts)), nil
}
