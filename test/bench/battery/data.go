package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// The shape of a catalog: the share of each kind in a thousand entities, and how entities
// refer to each other. A few groups own most entities, and every user is in one large
// group besides their own.
const (
	perMille   = 1000
	components = 560
	apis       = 130
	resources  = 160
	systems    = 40
	domains    = 2
	groups     = 8
	users      = 95
	// templates are the rest of a thousand.
	templates = perMille - components - apis - resources - systems - domains - groups - users
	// members is how many users the large group has at most.
	members = 20_000
)

// largeGroup has up to members members.
const largeGroup = "everyone"

// shape yields the entities of a catalog, each determined by its number.
type shape struct{ n int }

// count returns how many entities of a kind there are, given their share.
func (s shape) count(share int) int { return max(1, s.n*share/perMille) }

var (
	types      = []string{"service", "website", "library", "job", "pipeline", "model", "mobile-app", "cli"}
	lifecycles = []string{"production", "production", "production", "experimental", "deprecated"}
	languages  = []string{"go", "java", "python", "typescript", "rust", "kotlin", "ruby", "csharp"}
	regions    = []string{"eu-central-1", "eu-west-1", "us-east-1", "us-west-2", "ap-south-1"}
	nouns      = []string{
		"payment", "invoice", "order", "cart", "catalog", "shipping", "address", "account", "session", "profile",
		"ledger", "price", "stock", "search", "review", "rating", "message", "billing", "report", "metric",
		"alert", "audit", "policy", "token", "gateway", "proxy", "router", "queue", "worker", "scheduler",
		"image", "video", "upload", "archive", "export", "import", "sync", "backup", "restore", "index",
	}
	verbs = []string{"stores", "sends", "validates", "routes", "renders", "computes", "archives", "merges", "streams", "checks"}
)

// rank returns a number below n; small numbers are likely.
func rank(r *rand.Rand, n int) int {
	f := r.Float64()
	return min(n-1, int(f*f*f*float64(n)))
}

func (s shape) group(i int) string     { return fmt.Sprintf("team-%05d", i) }
func (s shape) system(i int) string    { return fmt.Sprintf("system-%05d", i) }
func (s shape) component(i int) string { return name(i) + fmt.Sprintf("-%06d", i) }

// name returns two nouns for a number.
func name(i int) string {
	return nouns[i%len(nouns)] + "-" + nouns[i/len(nouns)%len(nouns)]
}

// write writes the entities of a provider, one of several that share all, as lines of
// JSON. generation changes the description of all of them.
func (s shape) write(w io.Writer, provider, providers, generation int) (int, error) {
	out := bufio.NewWriterSize(w, 1<<20)
	n := 0
	put := func(i int, entity func() string) {
		if i%providers != provider {
			return
		}
		n++
		_, _ = out.WriteString(entity() + "\n") // Flush returns the error.
	}
	each := func(share int, entity func(i int, r *rand.Rand) string) {
		for i := range s.count(share) {
			put(i, func() string { return entity(i, rand.New(rand.NewPCG(uint64(share), uint64(i)))) })
		}
	}
	each(components, func(i int, r *rand.Rand) string { return s.componentText(i, generation, r) })
	each(apis, s.apiText)
	each(resources, s.resourceText)
	each(systems, func(i int, r *rand.Rand) string {
		return s.text("System", s.system(i), fmt.Sprintf("System %s %d", name(i), i), r, fmt.Sprintf(
			`"owner":"group:default/%s","domain":"domain-%d"`, s.group(rank(r, s.count(groups))), r.IntN(s.count(domains))), "")
	})
	each(domains, func(i int, r *rand.Rand) string {
		return s.text("Domain", fmt.Sprintf("domain-%d", i), "Domain "+name(i), r, fmt.Sprintf(`"owner":"group:default/%s"`, s.group(rank(r, s.count(groups)))), "")
	})
	each(groups, func(i int, r *rand.Rand) string {
		return s.text("Group", s.group(i), "Team "+name(i), r, `"type":"team","children":[],"profile":{"displayName":"Team `+name(i)+`"}`, "")
	})
	each(users, s.userText)
	each(templates, func(i int, r *rand.Rand) string {
		return s.text("Template", fmt.Sprintf("template-%d", i), "Create a "+name(i), r, fmt.Sprintf(
			`"type":"service","owner":"group:default/%s","parameters":[{"title":"Input","properties":{"name":{"type":"string"}}}],"steps":[{"id":"log","action":"debug:log","input":{"message":"created"}}]`,
			s.group(rank(r, s.count(groups)))), "")
	})
	put(0, func() string {
		return s.text("Group", largeGroup, "Everyone", rand.New(rand.NewPCG(0, 0)), `"type":"organization","children":[]`, "")
	})
	return n, out.Flush()
}

// text returns an entity of a kind.
func (s shape) text(kind, name, title string, r *rand.Rand, spec, annotations string) string {
	version := "v1alpha1"
	if kind == "Template" {
		return entityText("scaffolder.backstage.io/v1beta3", kind, name, title, r, spec, annotations)
	}
	return entityText("backstage.io/"+version, kind, name, title, r, spec, annotations)
}

func entityText(version, kind, name, title string, r *rand.Rand, spec, annotations string) string {
	description := fmt.Sprintf("%s that %s %s and %s for the %s of %s %d",
		title, verbs[r.IntN(len(verbs))], nouns[r.IntN(len(nouns))], nouns[r.IntN(len(nouns))], nouns[r.IntN(len(nouns))], nouns[r.IntN(len(nouns))], r.IntN(1000))
	tags := fmt.Sprintf(`"%s","%s","%s"`, languages[rank(r, len(languages))], regions[r.IntN(len(regions))], nouns[r.IntN(len(nouns))])
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"title":%q,"description":%q,"labels":{"example.org/cost-center":"c%d","example.org/tier":"%d","example.org/region":%q},"annotations":{"backstage.io/source-location":"url:https://git.example.org/%s/","backstage.io/techdocs-ref":"dir:."%s},"tags":[%s],"links":[{"url":"https://docs.example.org/%s","title":"Handbook"}]},"spec":{%s}}`,
		version, kind, name, title, description, r.IntN(300), r.IntN(4), regions[r.IntN(len(regions))], name, annotations, tags, name, spec)
}

func (s shape) componentText(i, generation int, r *rand.Rand) string {
	depends := make([]string, r.IntN(3))
	for j := range depends {
		depends[j] = fmt.Sprintf(`"resource:default/resource-%06d"`, r.IntN(s.count(resources)))
	}
	annotations := fmt.Sprintf(`,"backstage.io/kubernetes-id":"component-%06d","github.com/project-slug":"example/%s","pagerduty.com/service-id":"P%07d","sonarqube.org/project-key":"k%d","example.org/generation":"%d"`,
		i, s.component(i), r.IntN(10_000_000), i, generation)
	if i%500 == 7 {
		annotations += `,"backstage.io/orphan":"true"`
	}
	return s.text("Component", s.component(i), fmt.Sprintf("%s %06d", strings.ReplaceAll(name(i), "-", " "), i), r, fmt.Sprintf(
		`"type":%q,"lifecycle":%q,"owner":"group:default/%s","system":%q,"providesApis":["api-%06d"],"consumesApis":["api-%06d"],"dependsOn":[%s]`,
		types[rank(r, len(types))], lifecycles[r.IntN(len(lifecycles))], s.group(rank(r, s.count(groups))), s.system(r.IntN(s.count(systems))),
		i%s.count(apis), r.IntN(s.count(apis)), strings.Join(depends, ",")), annotations)
}

func (s shape) apiText(i int, r *rand.Rand) string {
	return s.text("API", fmt.Sprintf("api-%06d", i), "API "+name(i), r, fmt.Sprintf(
		`"type":%q,"lifecycle":%q,"owner":"group:default/%s","system":%q,"definition":%q`,
		[]string{"openapi", "grpc", "asyncapi"}[r.IntN(3)], lifecycles[r.IntN(len(lifecycles))], s.group(rank(r, s.count(groups))), s.system(r.IntN(s.count(systems))),
		"openapi: 3.0.0\ninfo: { title: "+name(i)+", version: 1.0.0 }\npaths:\n"+strings.Repeat("  /items/{id}: { get: { responses: { 200: { description: An item. } } } }\n", 12)), "")
}

func (s shape) resourceText(i int, r *rand.Rand) string {
	return s.text("Resource", fmt.Sprintf("resource-%06d", i), "Resource "+name(i), r, fmt.Sprintf(
		`"type":%q,"owner":"group:default/%s","system":%q`,
		[]string{"database", "bucket", "queue", "topic", "cluster"}[r.IntN(5)], s.group(rank(r, s.count(groups))), s.system(r.IntN(s.count(systems)))), "")
}

func (s shape) userText(i int, r *rand.Rand) string {
	of := s.group(r.IntN(s.count(groups)))
	memberOf := `"` + of + `"`
	if i < members {
		memberOf += `,"` + largeGroup + `"`
	}
	return s.text("User", fmt.Sprintf("user-%06d", i), fmt.Sprintf("User %d", i), r,
		fmt.Sprintf(`"memberOf":[%s],"profile":{"displayName":"User %d","email":"user-%d@example.org"}`, memberOf, i, i), "")
}
