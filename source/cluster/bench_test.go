package cluster_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// BenchmarkSurvey surveys five thousand definitions, each with the metadata
// that servers and kubectl add: managed fields, and a copy of the object.
func BenchmarkSurvey(b *testing.B) {
	const n, size = 5000, 500
	fields := strings.Repeat(`"f:someField":{".":{},"f:name":{},"f:version":{}},`, 40) + `"f:last":{}`
	entry := `{"apiVersion":"apiextensions.crossplane.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{` + fields + `}},"manager":"kubectl","operation":"Update","time":"2026-05-01T10:00:00Z"}`
	copied := strconv.Quote(strings.Repeat(`{"type":"string","description":"what it is for"},`, 120))
	var pages []string
	for from := 0; from < n; from += size {
		var items []string
		for i := from; i < from+size; i++ {
			items = append(items, fmt.Sprintf(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"xsamples%[1]d.platform.example.org",`+
				`"uid":"0c8e2a5e-3a1c-4f3e-9d0e-%012[1]d","resourceVersion":"%[1]d","generation":3,"creationTimestamp":"2026-05-01T10:00:00Z",`+
				`"labels":{"example.dev/ingest":"true","team":"a"},"annotations":{"example.dev/owner":"group:a","kubectl.kubernetes.io/last-applied-configuration":%[2]s},`+
				`"managedFields":[%[3]s,%[3]s]}}`, i, copied, entry))
		}
		next := strconv.Itoa(len(pages) + 1)
		if from+size == n {
			next = ""
		}
		pages = append(pages, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7000","continue":"`+next+`"},"items":[`+strings.Join(items, ",")+`]}`)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		respond(w, pages[i])
	}))
	b.Cleanup(s.Close)
	c := connect(b, "here", source.Cluster{URL: s.URL, Token: credential}, cluster.Options{})
	b.SetBytes(int64(len(strings.Join(pages, ""))))
	b.ReportAllocs()
	for b.Loop() {
		survey, err := c.Survey(b.Context(), upstreamDefinitions, "")
		if err != nil || len(survey.Items) != n {
			b.Fatal(len(survey.Items), err)
		}
	}
}
