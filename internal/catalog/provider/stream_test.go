package provider

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/spool"
)

// TestStream streams random entities, whether they are in memory or in files, and compares
// what is left of them with a model.
func TestStream(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	large, some := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		texts := spool.New(rapid.SampledFrom([]int{0, 100, 1 << 20}).Draw(t, "bytes in memory"))
		defer func() { _ = texts.Close() }()
		s := newStream(texts)
		s.sorter.Most = rapid.SampledFrom([]int{0, 1, 1000}).Draw(t, "bytes of records in memory")
		defer func() { _ = s.close() }()
		n := rapid.SampledFrom([]int{2 * smallPush, 10, 100}).Draw(t, "entries")
		names := rapid.SampledFrom([]int{20 * n, n, 5}).Draw(t, "names")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		first, text := map[string]int{}, map[string]string{}
		var wantDuplicates []int
		for i := range n {
			ref := fmt.Sprintf("component:default/%d", random.IntN(names))
			if _, again := first[ref]; again {
				wantDuplicates = append(wantDuplicates, i)
			} else {
				first[ref] = i
			}
			var err error
			if random.IntN(10) == 9 {
				err = s.refuse(ref, i, 2*i)
			} else {
				body := fmt.Sprintf(`{"entry":%d}`, i)
				if err = s.put(streamed{ref: ref, hash: body, index: i, line: 2 * i}, []byte(body)); first[ref] == i {
					text[ref] = body
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var duplicates []int
		if err := s.settle(func(e streamed) { duplicates = append(duplicates, e.index) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(duplicates)
		if diff := cmp.Diff(wantDuplicates, duplicates); diff != "" {
			t.Fatal("duplicates", diff)
		}
		var change write.Change
		find, err := s.fill(&change)
		if err != nil {
			t.Fatal(err)
		}
		docs := change.Put
		if change.Sorted != nil {
			large++
			for d, err := range change.Sorted {
				if err != nil {
					t.Fatal(err)
				}
				docs = append(docs, d)
			}
		}
		var refused []write.Refusal
		var want []streamed
		got := map[string]string{}
		for i, d := range docs {
			body, err := d.Spooled.Load()
			if err != nil {
				t.Fatal(err)
			}
			if d.Hash != string(body) {
				t.Fatalf("%s has the hash %s, want %s", d.Ref, d.Hash, body)
			}
			if got[d.Ref] = string(body); i > 0 && docs[i-1].Ref >= d.Ref {
				t.Fatalf("%s comes after %s", d.Ref, docs[i-1].Ref)
			}
			if i%3 == 0 {
				// The change knows the document by its place or, in a stream, by its index.
				r := write.Refusal{Index: i}
				if change.Sorted != nil {
					r.Index = d.Index
				}
				refused, want = append(refused, r), append(want, streamed{ref: d.Ref, hash: text[d.Ref], index: first[d.Ref], line: 2 * first[d.Ref]})
			}
		}
		if diff := cmp.Diff(text, got); diff != "" || s.accepted != len(text) {
			t.Fatalf("%d entities are accepted, want %d: %s", s.accepted, len(text), diff)
		}
		found, err := find(refused)
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			found[i].text = place{}
		}
		if len(found) > 0 {
			some++
		}
		if !slices.Equal(want, found) {
			t.Fatalf("refused entries are %v, want %v", found, want)
		}
	})
	if large < 5 || some < 20 {
		t.Errorf("only %d streams were large, and %d had refusals", large, some)
	}
}

// TestPushMany pushes more entities than are written as a whole, among them duplicates and
// refused ones.
func TestPushMany(t *testing.T) {
	f := newHarness(t, "", Options{})
	const n = 3 * smallPush
	name := func(i int) string { return fmt.Sprintf("c-%05d", (i*7919)%n) }
	if got, _ := f.push("PUT", "other/entities", line(name(10), "x")); got.Added != 1 {
		t.Fatalf("report is %+v", got)
	}
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(name(i), "x")
	}
	body := func(change func(lines []string) []string) string {
		return strings.Join(change(slices.Clone(lines)), "")
	}
	steps := []struct {
		reason, body string
		want         report
	}{
		{"All but that of another provider are added.", body(func(l []string) []string { return l }),
			report{Added: n - 1, Refused: []refusal{{10, 11, "component:default/" + name(10), "belongs to provider other"}}}},
		{"Nothing changes; blank lines count as lines.", "\n\n" + body(func(l []string) []string { return slices.Delete(l, 10, 11) }),
			report{Unchanged: n - 1, Refused: []refusal{}}},
	}
	for i, step := range steps {
		got, _ := f.push("PUT", all, step.body)
		for j := range got.Refused {
			if i == 0 && strings.Contains(got.Refused[j].Reason, "other") {
				got.Refused[j].Reason = "belongs to provider other"
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s\n%s", step.reason, diff)
		}
	}
	got, _ := f.push("PUT", all, body(func(l []string) []string {
		l[30] = strings.Replace(l[30], `"lifecycle":"x"`, `"lifecycle":7`, 1)
		l[40] = line(name(40), "y")
		l = append(l, line(name(30), "z"), line(name(50), "z"))
		return slices.Delete(l, 10, 11)
	}))
	// A duplicate is refused, and so is what comes after a refused entity, which stays.
	if got.Added != 0 || got.Updated != 1 || got.Removed != 0 || len(got.Refused) != 3 {
		t.Fatalf("report is %+v, want 1 updated and 3 refused", got)
	}
	for i, want := range []refusal{{Index: 29, Line: 30}, {Index: n - 1, Line: n}, {Index: n, Line: n + 1}} {
		if r := got.Refused[i]; r.Index != want.Index || r.Line != want.Line || (r.Reason == "duplicate in the push") != (i > 0) {
			t.Errorf("refusal %d is %+v, want %+v", i, r, want)
		}
	}
	// Without a usable reference, nothing is removed.
	got, _ = f.push("PUT", all, `{"apiVersion":"portal.io/v1alpha1","kind":"Component"}`+"\n"+strings.Join(lines[100:], ""))
	if got.Kept != 99 || got.Removed != 0 || got.Updated+got.Unchanged != n-100 {
		t.Errorf("report is %+v, want 99 kept", got)
	}
	got, _ = f.push("PUT", all, strings.Join(lines[100:], ""))
	if got.Removed != 99 || got.Kept != 0 || got.Unchanged != n-100 {
		t.Errorf("report is %+v, want 99 removed", got)
	}
	got, _ = f.push("PUT", all, line("only", "x"))
	if got.Removed != n-100 || got.Added != 1 {
		t.Errorf("report is %+v, want all but one removed", got)
	}
}

// TestPushOfTooManyRefused pushes so many wrong entities that they cannot be reported.
func TestPushOfTooManyRefused(t *testing.T) {
	f := newHarness(t, "", Options{})
	res := f.do("PUT", "/providers/"+all, line("good", "x")+strings.Repeat(`{"apiVersion":"portal.io/v1alpha1","kind":"Component"}`+"\n", maxRefused+1), "Content-Type", mediaNDJSON)
	want := fmt.Sprintf("400 InputError: More than %d entities would be refused, and nothing was changed; the first one is on line 2: ", maxRefused)
	if got := errorOf(t, res); !strings.HasPrefix(got, want) {
		t.Errorf("response is %s, want %s…", got, want)
	}
	if refs := f.refs(); len(refs) > 0 {
		t.Errorf("catalog has %v", refs)
	}
}
