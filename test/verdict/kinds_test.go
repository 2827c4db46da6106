package judge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/xrd/structural"
)

// mutatedResources is how many mutants of resources are judged.
const mutatedResources = 1200

// TestKinds sends every resource of the corpus, and mutants of them, to a real API
// server with the kinds that Crossplane makes of their definitions. Our verdict must have
// the same problems, in the same words, for new resources and for updates.
func TestKinds(t *testing.T) {
	pairs := readPairs(t)
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	c := &cluster{t: t, server: s}
	c.create(pairs)
	t.Run("Corpus", func(t *testing.T) {
		sum := c.compare(t, len(pairs), func(i int) trial {
			return trial{about: pairs[i].path, pair: pairs[i], object: clone(pairs[i].object)}
		})
		if sum.accepted < 1100 || sum.refused < 250 || sum.rule < 20 {
			t.Errorf("%+v; is this another corpus?", sum)
		}
	})
	t.Run("Mutants", func(t *testing.T) {
		with := func(of []*pair, has func(*pair) bool) []*pair {
			return slices.DeleteFunc(slices.Clone(of), func(p *pair) bool { return !has(p) })
		}
		// What is refused already hides what a mutation does.
		valid := with(pairs, func(p *pair) bool { return p.accepts(t.Context(), clone(p.object)) })
		ruled := with(valid, func(p *pair) bool { return len(spots(p, p.object, isPlain)) > 0 })
		frozen := with(valid, func(p *pair) bool { return p.stored && len(spots(p, p.object, isFrozen)) > 0 })
		t.Logf("%d of %d resources are valid, %d of them have rules, %d rules about oldSelf", len(valid), len(pairs), len(ruled), len(frozen))
		sum := c.compare(t, mutatedResources, func(i int) trial {
			rng := rand.New(rand.NewPCG(uint64(i), 24))
			// Any value of any resource, a value that a rule reads, the same as an update, and
			// an update of a value that a rule compares with its previous state.
			of, choose := [][]*pair{pairs, ruled, ruled, frozen}[i%4], isPlain
			if i%4 == 3 {
				choose = isFrozen
			}
			p := of[rng.IntN(len(of))]
			one := trial{pair: p, object: clone(p.object)}
			// The old object of a version that is not stored lacks fields.
			if before := clone(p.object); (i%4 > 1 || i%8 == 4) && p.stored && p.accepts(t.Context(), before) {
				one.old = before
			}
			about := ""
			if i%4 == 0 {
				about = mutateResource(rng, one.object)
			} else {
				all := spots(p, one.object, choose)
				about = all[rng.IntN(len(all))].mutate(rng)
			}
			one.about = fmt.Sprintf("%d: %s in %s", i, about, p.path)
			return one
		})
		if sum.accepted < 600 || sum.refused < 450 {
			t.Errorf("%+v: the mutations are too harmless or too coarse", sum)
		}
		if sum.rule < 280 || sum.ruleUpdate < 250 || sum.oldSelf < 220 {
			t.Errorf("%+v: the mutations violate too few rules", sum)
		}
	})
}

// cluster is a real API server.
type cluster struct {
	t      *testing.T
	server *apiserver.Server
}

// create creates the kinds of resources, and waits until they are served.
func (c *cluster) create(pairs []*pair) {
	c.t.Helper()
	began := time.Now()
	made := map[string]bool{}
	for _, p := range pairs {
		for _, crd := range p.crds {
			if made[crd.Name] {
				continue
			}
			made[crd.Name] = true
			crd.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
			crd.OwnerReferences = nil
			if status, out := c.send(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd); status != http.StatusCreated {
				c.t.Fatalf("cannot create %s: %d %s", crd.Name, status, out)
			}
		}
	}
	for _, p := range pairs {
		c.await(p)
	}
	c.t.Logf("%d kinds were served after %v", len(made), time.Since(began).Round(time.Second))
}

// await waits until a kind is served.
func (c *cluster) await(p *pair) {
	c.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, out := c.send(http.MethodGet, "/apis/"+p.kind.APIVersion+"/"+p.plural+"?limit=1", nil)
		if status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("%s is not served: %d %s", p.kind.APIVersion, status, out)
		}
	}
}

// send sends a request. A server that replaces the handlers of a kind, because its CRD
// changed, answers 503 for a moment.
func (c *cluster) send(method, path string, body any) (status int, out []byte) {
	for range 50 {
		if status, out = c.try(method, path, body); status != http.StatusServiceUnavailable {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return status, out
}

func (c *cluster) try(method, path string, body any) (int, []byte) {
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Error(err)
		return 0, nil
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.server.URL+path, bytes.NewReader(text))
	if err != nil {
		c.t.Error(err)
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.server.Client().Do(req)
	if err != nil {
		c.t.Error(err)
		return 0, nil
	}
	defer res.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(res.Body); err != nil {
		c.t.Error(err)
	}
	return res.StatusCode, out.Bytes()
}

// trial is a resource to judge; old is the one that it replaces, nil if it is new.
type trial struct {
	about       string
	pair        *pair
	object, old map[string]any
}

// sums counts verdicts.
type sums struct {
	accepted, refused, updates int
	// rule is how many were refused with the message of a validation rule, ruleUpdate how
	// many of those were updates, and oldSelf by how many rules that use oldSelf.
	rule, ruleUpdate, oldSelf int
}

// count adds a verdict of the cluster.
func (s *sums) count(it *trial, refused []string) {
	if it.old != nil {
		s.updates++
	}
	if len(refused) == 0 {
		s.accepted++
		return
	}
	s.refused++
	hit := false
	for message, transition := range it.pair.rules() {
		if slices.ContainsFunc(refused, func(r string) bool { return strings.HasSuffix(r, ": "+message) }) {
			hit = true
			if transition {
				s.oldSelf++
			}
		}
	}
	if hit {
		s.rule++
	}
	if hit && it.old != nil {
		s.ruleUpdate++
	}
}

// compare judges trials, ours against the cluster's.
func (c *cluster) compare(t *testing.T, n int, one func(int) trial) (sum sums) {
	t.Helper()
	var mu sync.Mutex
	each(n, func(i int) {
		it := one(i)
		name := fmt.Sprintf("t%d", i)
		place(it.object, it.pair, name)
		if it.old != nil {
			place(it.old, it.pair, name)
		}
		var ours []string
		said := it.pair.kind.Validate(t.Context(), it.object, it.old)
		for _, p := range said.Problems {
			ours = append(ours, p.String())
		}
		if said.RulesSkipped {
			ours = append(ours, "Invalid value: null: "+structural.UncheckedRules)
		}
		theirs, stored := c.judge(t, &it, name)
		slices.Sort(ours)
		slices.Sort(theirs)
		if len(theirs) == 0 && it.pair.stored {
			if _, err := it.pair.kind.Default(it.object); err != nil || text(it.object["spec"]) != text(stored["spec"]) {
				t.Errorf("%s: the cluster stores another object (%v)\n cluster: %s\n ours:    %s", it.about, err, text(stored["spec"]), text(it.object["spec"]))
			}
		}
		mu.Lock()
		sum.count(&it, theirs)
		mu.Unlock()
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s (update: %t)\n cluster: %s\n ours:    %s", it.about, it.old != nil, strings.Join(theirs, "\n          "), strings.Join(ours, "\n          "))
		}
	})
	t.Logf("%d resources: %+v", n, sum)
	return sum
}

// place gives an object a name, and a namespace if its kind has any. Other metadata does
// not matter here.
func place(object map[string]any, p *pair, name string) {
	meta := map[string]any{"name": name}
	if p.kind.Namespaced {
		meta["namespace"] = "default"
	}
	object["metadata"] = meta
}

// judge returns why the cluster refuses a resource, or what it stores.
func (c *cluster) judge(t *testing.T, it *trial, name string) (refused []string, stored map[string]any) {
	t.Helper()
	path := "/apis/" + it.pair.kind.APIVersion + "/"
	if it.pair.kind.Namespaced {
		path += "namespaces/default/"
	}
	path += it.pair.plural
	method, target := http.MethodPost, path+"?dryRun=All"
	if it.old != nil {
		status, out := c.send(http.MethodPost, path, it.old)
		var stored map[string]any
		if err := json.Unmarshal(out, &stored); err != nil || status != http.StatusCreated {
			t.Errorf("%s: cannot create the resource before the update: %d %s", it.about, status, out)
			return nil, nil
		}
		object := clone(it.object)
		object["metadata"].(map[string]any)["resourceVersion"] = stored["metadata"].(map[string]any)["resourceVersion"]
		method, target, it.object = http.MethodPut, path+"/"+name+"?dryRun=All", object
	}
	status, out := c.send(method, target, it.object)
	if status == http.StatusCreated || status == http.StatusOK {
		return nil, read(out)
	}
	var answer metav1.Status
	if err := json.Unmarshal(out, &answer); err != nil || answer.Details == nil {
		return []string{string(out)}, nil
	}
	for _, cause := range answer.Details.Causes {
		p := structural.Problem{Field: cause.Field, Message: cause.Message}
		if p.Field == "<nil>" {
			p.Field = ""
		}
		refused = append(refused, p.String())
	}
	return refused, nil
}
