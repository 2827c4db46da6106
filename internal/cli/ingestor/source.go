package ingestor

import (
	"context"
	"errors"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/source/git"
	"example.dev/ingestor/xrd"
)

// sourceOfConfig is the reason why a source is read that no argument names.
const sourceOfConfig = "a source of the configuration"

// source returns the inputs, restricted to the namespaces that the service reads.
func (s *session) source(progress func(done, total int)) source.Source {
	all := s.inputs(progress)
	if s.config == nil || s.profile.Name != engine.ComposerIngestor.Name {
		return all
	}
	return source.Func(func(ctx context.Context) (*xrd.Set, error) {
		set, err := all.Read(ctx)
		set.Within(s.config.Composer.Namespaces)
		if !s.config.Composer.Tracking.Compositions {
			set.Compositions = nil
		}
		if !s.config.Composer.Tracking.Composites {
			set.Others = nil
		}
		return set, err
	})
}

// inputs returns the named files, or otherwise the sources of the configuration,
// one after the other.
func (s *session) inputs(progress func(done, total int)) source.Source {
	if len(s.paths) > 0 {
		s.ReadingFiles(s.paths, output.Named)
		return s.disk(s.paths, s.recursive, progress)
	}
	return source.Func(func(ctx context.Context) (*xrd.Set, error) {
		all := &xrd.Set{}
		var errs []error
		for _, c := range s.config.Composer.Sources {
			set, err := s.configured(c, progress).Read(ctx)
			all.Join(set)
			errs = append(errs, err)
		}
		return all, errors.Join(errs...)
	})
}

// configured returns a source of the configuration.
func (s *session) configured(c config.Source, progress func(done, total int)) source.Source {
	if c.Type == config.SourceGit {
		repository := git.New(c.Repo, git.Options{Ref: c.Branch, Path: c.Path, Skipped: s.skipped, Auth: git.Auth{
			Username: c.Username, Token: c.Token, TokenFile: c.TokenFile,
			SSHKeyFile: c.SSHKeyFile, KnownHostsFile: c.KnownHostsFile, CAFile: c.CAFile,
		}})
		s.Reading(repository.Repository(), sourceOfConfig)
		return repository
	}
	s.ReadingFiles([]string{c.Path}, sourceOfConfig)
	return s.disk([]string{c.Path}, c.Recursive, progress)
}

// disk returns a source of files and directories.
func (s *session) disk(paths []string, recursive bool, progress func(done, total int)) source.Source {
	return file.New(paths, file.Options{
		Recursive: recursive, FollowSymlinks: s.followSymlinks, Stdin: s.Env.Stdin,
		Skipped: s.skipped, Progress: progress, Spill: s.spill.Tree,
	})
}

// unread prints every read error, and returns the exit error of the run.
func (s *session) unread(err error) error {
	var files []error
	for _, e := range output.Each(err) {
		repository, ok := errors.AsType[*git.Error](e)
		if !ok {
			files = append(files, e)
			continue
		}
		s.Complain(e, repository.Hint)
	}
	if len(files) == 0 {
		return &app.Exit{Code: app.ExitFailed}
	}
	return s.Unread(errors.Join(files...))
}
