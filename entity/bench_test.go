package entity

import (
	"fmt"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// typicalTemplate has three pages of twenty fields and three steps.
func typicalTemplate() *Entity {
	e := goodEntity(KindTemplate)
	for _, k := range []string{
		words.AnnotationSourceLocation, words.AnnotationXRDVersion, words.AnnotationTemplateOrigin,
		words.AnnotationTemplateVersion, words.AnnotationDiscoveredAt, words.AnnotationDiscoveredFrom,
	} {
		e.Metadata.Annotations[k] = "url:https://cluster.example.com"
	}
	e.Metadata.Tags = append(e.Metadata.Tags, "aws", "database", "platform-io")
	pages := tree.Arr()
	for p := range 3 {
		properties := tree.Obj()
		for i := range 20 {
			properties.Set(fmt.Sprintf("field%d", i), tree.Obj(
				tree.F("title", tree.Str("A field")),
				tree.F("type", tree.Str("string")),
				tree.F("description", tree.Str("What it is for, in a sentence of the usual length.")),
				tree.F("default", tree.Number(int64(i))),
			))
		}
		pages.Items = append(pages.Items, tree.Obj(tree.F("title", tree.Str(fmt.Sprint("Page ", p))), tree.F("properties", properties)))
	}
	e.Spec.Set("parameters", pages)
	step := e.Spec.Get("steps").Items[0]
	e.Spec.Set("steps", tree.Arr(step, step, step))
	return e
}

func BenchmarkCheck(b *testing.B) {
	e := typicalTemplate()
	b.ReportAllocs()
	for b.Loop() {
		if got := Check(e); len(got) != 0 {
			b.Fatal(got)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	e := typicalTemplate()
	b.ReportAllocs()
	for b.Loop() {
		Hash(e)
	}
}

func BenchmarkAppendYAML(b *testing.B) {
	e := typicalTemplate()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendYAML(buf[:0], e)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkSpeak(b *testing.B) {
	e := typicalTemplate()
	b.ReportAllocs()
	for b.Loop() {
		c := *e
		Speak(&c, words.Upstream)
	}
}

func BenchmarkName(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Name("databases.platform.io")
		Name("my database that has far too long a name to be the name of an entity")
	}
}
