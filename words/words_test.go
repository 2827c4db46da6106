package words_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/words"
)

// TestTable checks every identifier of the contract in both vocabularies.
func TestTable(t *testing.T) {
	cases := map[string]struct {
		reason           string
		place            words.Place
		portal, upstream string
	}{
		"Extensions":         {"Definitions and Compositions.", words.Group, "apiextensions.composer.io", "apiextensions.crossplane.io"},
		"ScaffolderGroup":    {"Templates.", words.Group, "scaffolder.portal.io", "scaffolder.backstage.io"},
		"PortalGroup":        {"Other entities.", words.Group, "portal.io", "backstage.io"},
		"Composer":           {"Any key of the composer.", words.Key, "composer.io/xrd-name", "crossplane.io/xrd-name"},
		"Portal":             {"Any key of the portal.", words.Key, "portal.io/owner", "backstage.io/owner"},
		"Scaffolder":         {"Any key of the scaffolder.", words.Key, "scaffolder.portal.io/template-origin", "scaffolder.backstage.io/template-origin"},
		"Vendor":             {"Labels of the vendor.", words.Key, "vendor.portal.io/generate-form", "terasky.backstage.io/generate-form"},
		"ComposerVendor":     {"Annotations of the vendor.", words.Key, "composer.vendor.io/xr-name", "crossplane.terasky.io/xr-name"},
		"Example":            {"Labels of the programs themselves.", words.Key, "example.dev/ingest", "openportal.dev/ingest"},
		"ClusterID":          {"An exception to its prefix.", words.Key, "portal.io/cluster-id", "backstage.io/kubernetes-id"},
		"ClusterNamespace":   {"An exception to its prefix.", words.Key, "portal.io/cluster-namespace", "backstage.io/kubernetes-namespace"},
		"Condition":          {"A condition of a composite.", words.Key, words.AnnotationConditionPrefix + "ready", "crossplane.io/condition-ready"},
		"Stale":              {"An annotation for stale entities.", words.Key, words.AnnotationStale, "backstage.io/stale"},
		"StaleSince":         {"An annotation for the time since an entity is stale.", words.Key, words.AnnotationStaleSince, "backstage.io/stale-since"},
		"NotClusterID":       {"The exception is for the whole key only.", words.Key, "portal.io/cluster-id-x", "backstage.io/cluster-id-x"},
		"TypeXRD":            {"Types of entities.", words.Type, words.TypeXRD, "crossplane-xrd"},
		"TypeResource":       {"Types of entities.", words.Type, words.TypeResource, "crossplane-resource"},
		"TypeComposition":    {"Types of entities.", words.Type, words.TypeComposition, "crossplane-composition"},
		"TypeXR":             {"Types of entities.", words.Type, words.TypeXR, "crossplane-xr"},
		"Tag":                {"Tags.", words.Tag, words.TagComposer, "crossplane"},
		"TagSource":          {"Tags.", words.Tag, words.TagSource, "source:crossplane-ingestor"},
		"Origin":             {"The origin of a template.", words.Origin, words.OriginIngestor, "crossplane-ingestor"},
		"Action":             {"The action of a step.", words.Action, words.ActionApply, "kubernetes:apply"},
		"ActionDelete":       {"The action of a step.", words.Action, words.ActionDelete, "kubernetes:delete"},
		"ActionCreate":       {"The action of a step.", words.Action, words.ActionCreate, "crossplane:create-xr"},
		"Purpose":            {"The purpose of a Template.", words.Key, words.AnnotationTemplatePurpose, "backstage.io/template-purpose"},
		"RootComposer":       {"Roots of the configuration.", words.Root, "composerIngestor", "crossplaneIngestor"},
		"RootCluster":        {"Roots of the configuration.", words.Root, "clusterIngestor", "kubernetesIngestor"},
		"RootOrchestrator":   {"Roots of the configuration.", words.Root, "orchestrator", "kubernetes"},
		"PathComposer":       {"HTTP paths.", words.Path, "/api/composer-ingestor/xrds", "/api/crossplane-ingestor/xrds"},
		"PathOrchestrator":   {"HTTP paths.", words.Path, "/api/orchestrator/clusters", "/api/kubernetes/clusters"},
		"Body":               {"HTTP bodies.", words.Body, "portalIdentity", "backstageIdentity"},
		"ForeignKey":         {"Other keys are unchanged.", words.Key, "app.kubernetes.io/name", "app.kubernetes.io/name"},
		"ForeignGroup":       {"Other groups are unchanged.", words.Group, "platform.io", "platform.io"},
		"LongerGroup":        {"A group is translated only as a whole.", words.Group, "x.portal.io", "x.portal.io"},
		"BareKey":            {"A key without a prefix is unchanged.", words.Key, "owner", "owner"},
		"PrefixInside":       {"A prefix must be at the beginning.", words.Key, "x.portal.io/owner", "x.portal.io/owner"},
		"TypeElsewhere":      {"A word is translated only in its place.", words.Tag, words.TypeXRD, words.TypeXRD},
		"ActionOther":        {"Other actions have one name.", words.Action, "publish:change-request", "publish:change-request"},
		"Empty":              {"An empty string is unchanged.", words.Key, "", ""},
		"PathNotBelow":       {"A path must be at the beginning.", words.Path, "/x/api/orchestrator/", "/x/api/orchestrator/"},
		"TemplateAnnotation": {"Keys of the contract are translated.", words.Key, words.AnnotationTitle, "backstage.io/template-title"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := words.In(tc.place, tc.upstream); got != tc.portal {
				t.Errorf("%s\nIn(%q) is %q, want %q", tc.reason, tc.upstream, got, tc.portal)
			}
			if got := words.In(tc.place, tc.portal); got != tc.portal {
				t.Errorf("%s\nIn(%q) is %q, want it unchanged", tc.reason, tc.portal, got)
			}
			if got := words.Upstream.Out(tc.place, tc.portal); got != tc.upstream {
				t.Errorf("%s\nUpstream.Out(%q) is %q, want %q", tc.reason, tc.portal, got, tc.upstream)
			}
			if got := words.Portal.Out(tc.place, tc.portal); got != tc.portal {
				t.Errorf("%s\nPortal.Out(%q) is %q, want it unchanged", tc.reason, tc.portal, got)
			}
		})
	}
}

// TestNames checks that every constant survives the translation out and back
// in.
func TestNames(t *testing.T) {
	for _, key := range []string{
		words.LabelIngest, words.LabelVersion, words.LabelGenerateForm, words.LabelTemplateType, words.LabelClusterID,
		words.AnnotationTitle, words.AnnotationDescription, words.AnnotationOwner, words.AnnotationSystem, words.AnnotationTags,
		words.AnnotationDefaultNamespace, words.AnnotationAPIVersion, words.AnnotationAPIKind, words.AnnotationGitOpsRepo,
		words.AnnotationGitOpsPath, words.AnnotationPlainDescription, words.AnnotationTemplate, words.AnnotationWizard,
		words.AnnotationSteps, words.AnnotationXRDName, words.AnnotationXRDVersion, words.AnnotationCompositionRef,
		words.AnnotationSourceLocation, words.AnnotationManagedBy, words.AnnotationManagedByOrigin, words.AnnotationDiscoveredAt,
		words.AnnotationDiscoveredFrom, words.AnnotationTemplateOrigin, words.AnnotationTemplateVersion, words.AnnotationXRName,
		words.AnnotationXRAPIVersion, words.AnnotationXRKind, words.AnnotationClusterID, words.AnnotationClusterNamespace,
		words.AnnotationTemplatePurpose,
	} {
		out := words.Upstream.Out(words.Key, key)
		if out == key {
			t.Errorf("key %q has no upstream spelling", key)
		}
		if back := words.In(words.Key, out); back != key {
			t.Errorf("key %q is translated to %q and back to %q", key, out, back)
		}
	}
	for _, v := range []string{words.DefinitionV1, words.DefinitionV1beta1, words.DefinitionV2, words.EntityVersion, words.TemplateVersion} {
		out := words.Upstream.APIVersionOut(v)
		if out == v {
			t.Errorf("apiVersion %q has no upstream spelling", v)
		}
		if back := words.APIVersionIn(out); back != v {
			t.Errorf("apiVersion %q is translated to %q and back to %q", v, out, back)
		}
	}
}

func TestAPIVersion(t *testing.T) {
	cases := map[string]struct {
		reason  string
		in      string
		portal  string
		found   words.Vocabulary
		outward string
	}{
		"Upstream":  {"The upstream group is translated.", "apiextensions.crossplane.io/v2", "apiextensions.composer.io/v2", words.Upstream, "apiextensions.crossplane.io/v2"},
		"Portal":    {"The group of the contract is unchanged.", "apiextensions.composer.io/v1", "apiextensions.composer.io/v1", words.Portal, "apiextensions.crossplane.io/v1"},
		"Entity":    {"Entities are translated too.", "backstage.io/v1alpha1", "portal.io/v1alpha1", words.Upstream, "backstage.io/v1alpha1"},
		"Foreign":   {"Other groups are unchanged.", "platform.io/v1", "platform.io/v1", words.Portal, "platform.io/v1"},
		"NoGroup":   {"The core group has no name.", "v1", "v1", words.Portal, "v1"},
		"Malformed": {"Only the part before the first slash is a group.", "backstage.io/v1/x", "portal.io/v1/x", words.Upstream, "backstage.io/v1/x"},
		"Empty":     {"An empty apiVersion is in the portal vocabulary.", "", "", words.Portal, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := words.APIVersionIn(tc.in); got != tc.portal {
				t.Errorf("%s\nAPIVersionIn(%q) is %q, want %q", tc.reason, tc.in, got, tc.portal)
			}
			if got := words.Of(tc.in); got != tc.found {
				t.Errorf("%s\nOf(%q) is %v, want %v", tc.reason, tc.in, got, tc.found)
			}
			if got := words.Upstream.APIVersionOut(tc.portal); got != tc.outward {
				t.Errorf("%s\nUpstream.APIVersionOut(%q) is %q, want %q", tc.reason, tc.portal, got, tc.outward)
			}
			if got := words.Portal.APIVersionOut(tc.portal); got != tc.portal {
				t.Errorf("%s\nPortal.APIVersionOut(%q) is %q, want it unchanged", tc.reason, tc.portal, got)
			}
		})
	}
}

func TestKeysIn(t *testing.T) {
	cases := map[string]struct {
		reason   string
		in, want map[string]string
	}{
		"Nil":   {"A nil map stays nil.", nil, nil},
		"Empty": {"An empty map becomes nil.", map[string]string{}, nil},
		"Both": {
			"Of two spellings that of the contract wins.",
			map[string]string{"portal.io/owner": "own", "backstage.io/owner": "other", "backstage.io/system": "s"},
			map[string]string{"portal.io/owner": "own", "portal.io/system": "s"},
		},
		"Exception": {
			"The exceptions to a prefix are kept apart from other keys of the prefix.",
			map[string]string{"backstage.io/kubernetes-id": "a", "backstage.io/kubernetes-x": "b", "x": "y"},
			map[string]string{"portal.io/cluster-id": "a", "portal.io/kubernetes-x": "b", "x": "y"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// Maps are unordered, so one attempt proves little.
			for range 50 {
				if diff := cmp.Diff(tc.want, words.KeysIn(tc.in)); diff != "" {
					t.Fatalf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestKeysOut(t *testing.T) {
	in := map[string]string{"portal.io/owner": "a", "portal.io/cluster-id": "b", "x": "c"}
	want := map[string]string{"backstage.io/owner": "a", "backstage.io/kubernetes-id": "b", "x": "c"}
	if diff := cmp.Diff(want, words.Upstream.KeysOut(in)); diff != "" {
		t.Errorf("Upstream.KeysOut: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(in, words.Portal.KeysOut(in)); diff != "" {
		t.Errorf("Portal.KeysOut: -want, +got:\n%s", diff)
	}
	if got := words.Upstream.KeysOut(nil); got != nil {
		t.Errorf("KeysOut(nil) is %v, want nil", got)
	}
}

func TestChoice(t *testing.T) {
	cases := map[string]struct {
		reason       string
		in           string
		own, foreign words.Vocabulary
		err          string
	}{
		"Auto":     {"The output has the vocabulary of the definition.", "auto", words.Portal, words.Upstream, ""},
		"Default":  {"The default is the vocabulary of the definition.", "", words.Portal, words.Upstream, ""},
		"Portal":   {"Everything is in the portal vocabulary.", "portal", words.Portal, words.Portal, ""},
		"Upstream": {"Everything is in the upstream vocabulary.", "upstream", words.Upstream, words.Upstream, ""},
		"Other":    {"Other vocabularies are refused.", "Portal", 0, 0, `cannot use words "Portal": must be auto, portal or upstream`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := words.ParseChoice(tc.in)
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("%s\nParseChoice returned %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if got := c.For(words.Portal); got != tc.own {
				t.Errorf("%s\nFor(portal) is %v, want %v", tc.reason, got, tc.own)
			}
			if got := c.For(words.Upstream); got != tc.foreign {
				t.Errorf("%s\nFor(upstream) is %v, want %v", tc.reason, got, tc.foreign)
			}
			// Printed options contain no memory addresses.
			want := tc.in
			if want == "" {
				want = "auto"
			}
			if got := fmt.Sprintf("%+v", struct{ Words words.Choice }{c}); got != "{Words:"+want+"}" {
				t.Errorf("%s\nprinted as %s, want %q", tc.reason, got, want)
			}
		})
	}
}

// TestUnderstood checks the synonyms from other products: they are accepted,
// and the word of the contract is written.
func TestUnderstood(t *testing.T) {
	others := []string{"publish:github:pull-request", "publish:gitlab:merge-request"}
	for _, s := range others {
		if got := words.In(words.Action, s); got != words.ActionChangeRequest {
			t.Errorf("In(%q) is %q, want %q", s, got, words.ActionChangeRequest)
		}
		if got := words.In(words.Tag, s); got != s {
			t.Errorf("In(%q) is %q in another place, want it unchanged", s, got)
		}
	}
	cases := map[string]struct {
		reason, action string
		want           []string
	}{
		"Apply":  {"The name of the contract is first.", words.ActionApply, []string{words.ActionApply, "kubernetes:apply"}},
		"Delete": {"The name of the contract is first for delete too.", words.ActionDelete, []string{words.ActionDelete, "kubernetes:delete"}},
		"Change": {"Synonyms come last.", words.ActionChangeRequest, append([]string{words.ActionChangeRequest}, others...)},
		"None":   {"A word without synonyms has one name.", "git:commit", []string{"git:commit"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, words.Spellings(words.Action, tc.action)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
