package service_test

import (
	"path/filepath"
	"slices"
	"testing"

	"example.dev/ingestor/test/apiserver"
)

// TestOtherConfiguration starts services with one database and different
// configurations. It checks that entities of sources that are no longer
// configured are removed, and no others.
func TestOtherConfiguration(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{Apply: []string{
		definition("alphas", "one"), formed("betas", "true"), workload("Deployment", "front", idUpstream, "front"),
	}})
	dir, database := t.TempDir(), inFile(t)
	put(t, filepath.Join(dir, "one", "gammas.yaml"), definition("gammas", "one"))
	put(t, filepath.Join(dir, "two", "deltas.yaml"), definition("deltas", "one"))
	folder := func(name string) sections {
		return sections{"name": name, "type": "file", "path": filepath.Join(dir, name)}
	}
	off := sections{"enabled": false}
	twoFolders := []sections{folder("one"), folder("two")}
	oneFolder := twoFolders[1:]
	steps := []struct {
		reason      string
		composer, b sections
		want        []string
	}{
		{"Both variants side by side.", sections{"sources": twoFolders}, sections{},
			slices.Concat(entities("alphas", "gammas", "deltas"), variantBRefs("betas"), components("front"))},
		{"A folder less.", sections{"sources": oneFolder}, sections{},
			slices.Concat(entities("alphas", "deltas"), variantBRefs("betas"), components("front"))},
		{"A cluster less.", sections{"sources": oneFolder, "clusters": []any{}}, sections{},
			slices.Concat(entities("deltas"), variantBRefs("betas"), components("front"))},
		{"Without variant A.", sections{"enabled": false, "sources": oneFolder}, sections{},
			slices.Concat(variantBRefs("betas"), components("front"))},
		{"Variant B without definitions.", off, sections{"composer": sections{"xrds": off}}, components("front")},
		{"Variant B without workloads.", off, sections{"components": off}, variantBRefs("betas")},
		{"Without anything.", off, off, nil},
		{"As at first.", sections{"sources": twoFolders}, sections{},
			slices.Concat(entities("alphas", "gammas", "deltas"), variantBRefs("betas"), components("front"))},
	}
	before := map[string]string{}
	for _, step := range steps {
		s := start(t, setup{database: database, sections: both(cluster("prod", c), step.b, composer(step.composer, cluster("prod", c)))})
		t.Log(step.reason)
		s.waitForRefs("", slices.Clone(step.want)...)
		var stayed []string
		for _, ref := range step.want {
			if before[ref] != "" {
				stayed = append(stayed, ref)
			}
		}
		s.checkUnchanged(before, stayed...)
		s.wantHealth("healthy", nil)
		before = s.waitUntilStable()
		s.stop()
	}
}
