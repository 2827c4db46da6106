package provide

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/voice"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/tree"
)

// retarget lets Locations lead where they led: a target that is a path, relative
// to the file the Location was read from, becomes the path of the files that the
// entities in it are written to, relative to that of the Location. names are the
// files of all documents. Targets that are not among the input stay as they are,
// which is worth a warning.
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
		targets, missing := led(d, names[i], written)
		if targets != nil {
			spec.Delete("target")
			spec.Set("targets", tree.Strs(targets))
		}
		for _, t := range missing {
			found = append(found, finding.Finding{
				Rule: entity.RuleTargetMissing, Severity: finding.Warning, Object: d.who.Key(), File: d.file, Pos: d.pos, Path: "spec.targets",
				Message: fmt.Sprintf("target %q is not among the input, so that it may lead nowhere from %s", t, names[i]),
				Hint:    "name the folder that holds both, or write an address",
			})
		}
	}
	if err := o.Report(voice.Report{Findings: found, Strict: o.strict}); err != nil {
		return voice.Failure(err)
	}
	if voice.Failed(found, o.strict) {
		return &app.Exit{Code: app.ExitInvalid, Err: fmt.Errorf("%s: a Location would lead nowhere", o.undone)}
	}
	return nil
}

// led returns the targets of a Location that is written to name, nil if they
// stay as they are, and those that are paths of nothing that is written.
func led(d document, name string, written map[string][]string) (targets, missing []string) {
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
			// What stands in the same file is read with it.
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

// cleaned is the path of a file by which it is known, empty for what is none.
func cleaned(name string) string {
	if name == "" || name == file.StdinName {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return filepath.Clean(name)
}

// relative returns the way from a folder to a file, both below the same folder.
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
