package portal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/internal/term"
)

// newBackup returns the command that copies the database.
func newBackup(v *output.Output, paths *[]string) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE [options]",
		Short: "Back up the SQLite database, also while the server runs",
		Long: `Copies a consistent snapshot of the SQLite database to a new file, without
stopping a server that uses it. The queue and the key for task secrets are copied
beside it, under the names that the server expects (FILE-jobs, FILE-tasks.key,
before the extension). Only their owner may read them. No file is replaced.

To restore a backup, stop the server and replace the files of the database with
those of the backup. Remove the files that end in -wal and -shm.

A PostgreSQL database is backed up with pg_dump; the command is shown.

Exit codes: 0 success, 1 failure, 4 invalid flags or configuration, or a
PostgreSQL database.`,
		Example: `  # Beside the server
  portal-backend backup /backup/portal-monday.sqlite

  # With the configuration of the server
  portal-backend backup --config /etc/portal/app-config.yaml /backup/portal.sqlite`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return backup(cmd.Context(), v, *paths, args[0]) },
	}
}

// oneFile requires exactly one argument, the path of a file.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return flags.Usagef(flags.Help(cmd), "cannot back up to %d files: want the path of one new file", len(args))
}

func backup(ctx context.Context, v *output.Output, paths []string, to string) error {
	c, err := load(v, paths)
	if err != nil {
		return err
	}
	copies, err := server.Backup(ctx, c.Backend.Database, to)
	if dump, ok := errors.AsType[*server.Dump](err); ok {
		return &app.Exit{Code: app.ExitUsage, Err: err, Hint: "run, with the password in PGPASSWORD or ~/.pgpass:\n  " + dump.Command}
	}
	if err != nil {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: backupHint(err)}
	}
	var b strings.Builder
	for _, c := range copies {
		fmt.Fprintf(&b, "%s %s to %s (%d bytes)\n", v.Out().Green("copied"), term.Safe(c.From), term.Safe(c.To), c.Bytes)
	}
	return write(v, []byte(b.String()))
}

// backupHint returns the hint for an error.
func backupHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrExist):
		return "specify a file that does not exist: backups are not replaced"
	case errors.Is(err, fs.ErrNotExist):
		return "check backend.database.connection, and that the folder of the backup exists"
	case errors.Is(err, fs.ErrPermission):
		return "run the command as the user of the server, and specify a folder that the user may write to"
	}
	return ""
}
