package provide

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/source/file"
)

// retarget rewrites the relative targets of Locations: a path relative to the file
// that the Location was read from becomes the path, relative to the committed
// Location, of the files that hold the same entities. names are the committed files
// of all documents. A target outside the input is kept and reported.
func (o *commitOptions) retarget(all []document, names []string) error {
	written := map[string][]string{}
	for i, d := range all {
		if at := cleaned(d.file); at != "" && !slices.Contains(written[at], names[i]) {
			written[at] = append(written[at], names[i])
		}
	}
	var found []finding.Finding
	for i, d := range all {
		if d.who.Kind != entity.KindLocation {
			continue
		}
		spec := d.doc.Get("spec")
		targets, missing := rewritten(d, names[i], written)
		if targets != nil {
			spec.Delete("target")
			spec.Set("targets", tree.Strs(targets))
		}
		for _, t := range missing {
			found = append(found, finding.Finding{
				Rule: entity.RuleTargetMissing, Severity: finding.Warning, Object: d.who.Key(), File: d.file, Pos: d.pos, Path: "spec.targets",
				Message: fmt.Sprintf("target %q is not part of the input and may not exist relative to %s", t, names[i]),
				Hint:    "pass the directory that contains both, or use a URL",
			})
		}
	}
	if err := o.Report(output.Report{Findings: found, Strict: o.strict}); err != nil {
		return output.Failure(err)
	}
	if output.Failed(found, o.strict) {
		return &app.Exit{Code: app.ExitInvalid, Err: fmt.Errorf("%s: a Location has a target that is not part of the input", o.undone)}
	}
	return nil
}

// rewritten returns the targets of a Location that is committed as name, nil if
// none changes, and the relative targets that are not part of the input.
func rewritten(d document, name string, written map[string][]string) (targets, missing []string) {
	spec := d.doc.Get("spec")
	given := spec.Get("targets").Strings()
	if t := spec.Get("target").Str(); t != "" {
		given = append([]string{t}, given...)
	}
	moved := false
	targets = []string{}
	for _, t := range given {
		if strings.Contains(t, "://") || path.IsAbs(t) || filepath.IsAbs(t) {
			targets = append(targets, t)
			continue
		}
		files := written[cleaned(filepath.Join(filepath.Dir(d.file), filepath.FromSlash(t)))]
		if d.file == file.StdinName || len(files) == 0 {
			missing = append(missing, t)
			targets = append(targets, t)
			continue
		}
		moved = true
		for _, to := range files {
			// Entities in the same file are read together with the Location.
			if to != name {
				targets = append(targets, relative(path.Dir(name), to))
			}
		}
	}
	if !moved {
		return nil, missing
	}
	return targets, missing
}

// cleaned returns the absolute path of a file, empty for standard input.
func cleaned(name string) string {
	if name == "" || name == file.StdinName {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return filepath.Clean(name)
}

// relative returns the path of a file relative to a directory; both are slash
// paths below the same root.
func relative(from, to string) string {
	up := ""
	for from != "." && !strings.HasPrefix(to, from+"/") {
		from, up = path.Dir(from), up+"../"
	}
	if from != "." {
		to = strings.TrimPrefix(to, from+"/")
	}
	if up == "" {
		return "./" + to
	}
	return up + to
}
