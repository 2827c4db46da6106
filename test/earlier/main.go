// Command earlier records the databases of earlier versions of portal-backend
// that the upgrade tests of test/service open: it builds each revision from the
// history of this repository, lets it ingest the examples and run tasks on
// SQLite and on PostgreSQL, kills it, and writes the databases and what they
// contain to a folder. From the root of the repository:
//
//	go run ./test/earlier
//
// It is needed only to add a revision: a recorded database never changes. It
// takes minutes, and needs unshare, git, the whole history, and PostgreSQL. The
// programs run in a namespace where they are on the host "portal" in the folder
// /srv/portal, so that no path of this machine is recorded.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"example.dev/ingestor/test/postgres"
)

// version is an earlier version of the program.
type version struct {
	// name is that of the files; revision is a commit that builds.
	name, revision string
	// ingests and runs report whether it can ingest definitions and run tasks.
	ingests, runs bool
}

// versions are the first revisions with a change that is visible in the
// database. Some of these changes were made by the commit before, which does
// not build.
var versions = []version{
	{name: "first", revision: "78e817d"},
	{name: "scaffolder", revision: "f8a0144", ingests: true, runs: true},
	{name: "web", revision: "02a41b4", ingests: true, runs: true},
}

func main() {
	out := flag.String("out", "test/service/testdata/earlier", "folder to write to")
	flag.Parse()
	if err := record(context.Background(), *out); err != nil {
		fmt.Fprintln(os.Stderr, "earlier:", err)
		os.Exit(1)
	}
}

// record records all versions that are not in the folder.
func record(ctx context.Context, out string) error {
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "ingestor-earlier-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	pg, err := postgres.Run(postgres.Options{})
	if err != nil {
		return err
	}
	for _, v := range versions {
		if _, err := os.Stat(filepath.Join(out, v.name+".sqlite.json")); err == nil {
			continue
		}
		if err := recordVersion(ctx, pg, v, filepath.Join(work, v.name), out); err != nil {
			return errors.Join(fmt.Errorf("cannot record version %s: %w", v.name, err), pg.Stop())
		}
	}
	return pg.Stop()
}

// recordVersion records a version on both databases.
func recordVersion(ctx context.Context, pg *postgres.Server, v version, work, out string) error {
	source := filepath.Join(work, "source")
	if err := os.MkdirAll(source, 0o750); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "earlier: building version %s (%s)\n", v.name, v.revision)
	program := filepath.Join(work, "portal-backend")
	if err := run(ctx, "", "sh", "-ec", `git archive "$0" | tar -x -C "$1"`, v.revision, source); err != nil {
		return err
	}
	if err := run(ctx, source, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/portal-backend"); err != nil {
		return err
	}
	if err := saveExamples(filepath.Join(source, "examples"), filepath.Join(out, v.name+"-examples.tar.gz")); err != nil {
		return err
	}
	for _, d := range []database{&sqliteFiles{}, &postgresDump{server: pg}} {
		fmt.Fprintf(os.Stderr, "earlier: recording version %s on %s\n", v.name, d.client())
		s := &site{version: v, program: program, root: filepath.Join(work, d.client())}
		if err := s.prepare(ctx, filepath.Join(source, "examples"), d); err != nil {
			return err
		}
		state, err := s.live(ctx)
		if err != nil {
			return fmt.Errorf("%w; end of the log:\n%s", err, s.log.Tail())
		}
		if err := d.save(ctx, s.folder(), filepath.Join(out, v.name)); err != nil {
			return err
		}
		if err := state.write(filepath.Join(out, v.name+"."+d.client()+".json")); err != nil {
			return err
		}
	}
	return nil
}

// saveExamples saves the definitions that a version ingests.
func saveExamples(folder, to string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.Base(file), Mode: 0o644, Size: int64(len(data))}); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return pack(to, b.Bytes())
}

// run runs a command.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cannot run %s: %w: %s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}
