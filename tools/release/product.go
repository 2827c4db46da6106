package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// programs are what a release contains, each built from cmd/<name>.
var programs = []string{"portal-backend", "ingestor-cli", "composer-ingestor", "xrd-extract", "xrd-transform", "portal-provide"}

// server is the program that the image runs.
const server = "portal-backend"

// product is deploy/chart/product.yaml: the names of what is released.
type product struct {
	Repository  string `yaml:"repository"`
	Image       string `yaml:"image"`
	Description string `yaml:"description"`
	License     string `yaml:"license"`
}

// name is the last element of the repository.
func (p product) name() string { return p.Repository[strings.LastIndex(p.Repository, "/")+1:] }

// release is what is released: the names, and the state of the sources.
type release struct {
	product
	// Root is the checkout.
	Root string
	// Version is a tag like v1.2.3, or what git describe says between tags.
	Version string
	Commit  string
	// Date is the time of the commit, so that two builds of a commit are equal.
	Date time.Time
}

// plain is the version without the v: what package managers and charts use.
func (r release) plain() string { return strings.TrimPrefix(r.Version, "v") }

// debian is the version as Debian orders it: a pre-release sorts before its release.
func (r release) debian() string { return strings.ReplaceAll(r.plain(), "-", "~") }

var versionPattern = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// read reads the product and the state of the checkout. An empty version is the one that Git describes.
func read(ctx context.Context, root, version string) (release, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return release{}, fmt.Errorf("cannot find the checkout: %w", err)
	}
	r := release{Root: root, Version: version}
	file := filepath.Join(root, "deploy", "chart", "product.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return release{}, fmt.Errorf("cannot read the product's names: %w", err)
	}
	if err := yaml.Unmarshal(text, &r.product); err != nil {
		return release{}, fmt.Errorf("cannot read the product's names: %s: %w", file, err)
	}
	if r.Repository == "" {
		return release{}, fmt.Errorf("cannot read the product's names: %s has no repository", file)
	}
	if r.Image == "" {
		r.Image = r.Repository + "/" + server
	}
	if r.Commit, err = git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return release{}, err
	}
	date, err := git(ctx, root, "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return release{}, err
	}
	if r.Date, err = time.Parse(time.RFC3339, date); err != nil {
		return release{}, fmt.Errorf("cannot read the time of commit %s: %w", r.Commit, err)
	}
	r.Date = r.Date.UTC()
	if r.Version == "" {
		if r.Version, err = described(ctx, root); err != nil {
			return release{}, err
		}
	}
	if !versionPattern.MatchString(r.Version) {
		return release{}, fmt.Errorf("cannot release version %q: it must look like v1.2.3 or v1.2.3-rc.1", r.Version)
	}
	return r, nil
}

// described returns the version of a checkout: its tag, or a pre-release of v0.0.0 with the commit.
func described(ctx context.Context, root string) (string, error) {
	if tag, err := git(ctx, root, "describe", "--tags", "--exact-match", "--match", "v*"); err == nil {
		return tag, nil
	}
	commit, err := git(ctx, root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	return "v0.0.0-dev." + commit, nil
}

// isClean returns an error if the checkout differs from its commit: a release says which
// commit it was built from.
func isClean(ctx context.Context, r release) error {
	changed, err := git(ctx, r.Root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("cannot release %s: the checkout has changes that are not committed:\n%s", r.Version, changed)
	}
	return nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%s: %w", strings.TrimSpace(string(failed.Stderr)), err)
		}
		return "", fmt.Errorf("cannot run git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
