package transform

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/template/builtin"
)

// defaultFolder is the folder to which init writes the templates.
const defaultFolder = "./templates"

// initOptions are the flags of init.
type initOptions struct {
	*output.Output
	only  []string
	force bool
}

func newInit(v *output.Output) *cobra.Command {
	o := &initOptions{Output: v}
	cmd := &cobra.Command{
		Use:   "init [options] [folder]",
		Short: "Write the built-in templates to a folder for editing",
		Long: `Writes the built-in template folder to ./templates, or to the given folder.
Keep the files you change and remove the rest: the built-in file is used for
every missing one. An existing file with other content is replaced only with
--force.`,
		Example: `  # All of them
  xrd-transform init

  # One page of the form, and the metadata of the folder
  xrd-transform init templates/ --only wizard/default --only metadata.yaml`,
		Args: atMostOne,
		RunE: body(func(_ context.Context, _ map[string]bool, args []string) error {
			if len(args) == 0 {
				args = []string{defaultFolder}
			}
			return o.run(args[0])
		}),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.Flags().StringSliceVar(&o.only, "only", nil, "write only these `files`, such as portal/default or metadata.yaml")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace existing files")
	_ = cmd.RegisterFlagCompletionFunc("only", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names, _ := builtinTemplates()
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// builtinTemplates returns the names of the built-in files, sorted.
func builtinTemplates() ([]string, error) {
	var names []string
	err := fs.WalkDir(builtin.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

func (o *initOptions) run(to string) error {
	if to == "" {
		return flags.Usagef("check for an empty shell variable", "template folder is the empty string")
	}
	names, err := o.choose()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("cannot create template folder %q: %w", to, bare(err))
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return fmt.Errorf("cannot open template folder %q: %w", to, bare(err))
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	names, same, err := o.missing(root, to, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := put(root, name); err != nil {
			return fmt.Errorf("cannot write %q: %w", filepath.Join(to, name), bare(err))
		}
		if o.Detailed() {
			o.Sayf("wrote %s", term.Safe(filepath.Join(to, name)))
		}
	}
	if !o.Quiet {
		already := ""
		if same > 0 {
			already = fmt.Sprintf(", %d already existed", same)
		}
		o.Sayf("%s written to %s%s; see %s lint --templates %s", output.Count(len(names), "file", "files"), term.Safe(to), already, Name, term.Safe(to))
	}
	return nil
}

// choose returns the names of the files to write.
func (o *initOptions) choose() ([]string, error) {
	all, err := builtinTemplates()
	if err != nil || len(o.only) == 0 {
		return all, err
	}
	var names []string
	for _, want := range o.only {
		i := slices.IndexFunc(all, func(name string) bool { return name == want || strings.TrimSuffix(name, path.Ext(name)) == want })
		if i < 0 {
			return nil, flags.Usagef("available: "+strings.Join(all, ", "), "unknown built-in file %q", want)
		}
		names = append(names, all[i])
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// missing returns the names of the files to write, and the number of files that
// are already up to date. An existing file with other content is an error, unless
// --force is set.
func (o *initOptions) missing(root *os.Root, to string, names []string) (write []string, same int, err error) {
	var others []string
	for _, name := range names {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, 0, fmt.Errorf("cannot read %q: %w", filepath.Join(to, name), bare(err))
		case info.IsDir():
			return nil, 0, fmt.Errorf("cannot write %q: is a directory", filepath.Join(to, name))
		default:
			old, _ := root.ReadFile(name)
			if text, _ := fs.ReadFile(builtin.Files(), name); info.Mode().IsRegular() && bytes.Equal(old, text) {
				same++
				continue
			}
			others = append(others, name)
		}
		write = append(write, name)
	}
	if len(others) > 0 && !o.force {
		return nil, 0, &app.Exit{
			Code: app.ExitFailed, Err: fmt.Errorf("cannot write to %q: existing files differ from the built-in ones: %s", to, strings.Join(others, ", ")),
			Hint: "nothing was written; use --force to replace files, or --only to select some",
		}
	}
	return write, same, nil
}

// put writes a built-in file.
func put(root *os.Root, name string) error {
	text, err := fs.ReadFile(builtin.Files(), name)
	if err != nil {
		return err
	}
	return replace(root, name, text)
}

// replace writes a file atomically, through a temporary file.
func replace(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	tmp := path.Join(path.Dir(name), ".ingestor-"+rand.Text()+".tmp")
	err := root.WriteFile(tmp, text, 0o644)
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		_ = root.Remove(tmp)
	}
	return err
}

// bare returns a file system error without the path, which the message already
// has.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
