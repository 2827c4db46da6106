package config

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const svg = `<?xml version="1.0"?>
<!-- A logo. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>`

func TestLogo(t *testing.T) {
	var dot bytes.Buffer
	if err := png.Encode(&dot, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	const hint = " | specify an SVG or PNG file of at most 64 KiB"
	files := disk{
		"conf/logo.svg":    svg,
		"conf/logo.png":    dot.String(),
		"conf/wrong.png":   svg,
		"conf/plain.svg":   `<svg viewBox="0 0 1 1"/>`,
		"conf/page.svg":    `<html xmlns="http://www.w3.org/1999/xhtml"><svg xmlns="http://www.w3.org/2000/svg"/></html>`,
		"conf/latin.svg":   "\ufeff<?xml version='1.0' encoding='ISO-8859-1'?><!DOCTYPE svg><s:svg xmlns:s='http://www.w3.org/2000/svg'/>",
		"conf/photo.jpg":   "\xff\xd8\xff\xe0 JFIF",
		"conf/cut.png":     dot.String()[:12],
		"conf/empty.svg":   "",
		"conf/largest.svg": svg + strings.Repeat(" ", maxLogo-len(svg)),
		"conf/larger.svg":  svg + strings.Repeat(" ", maxLogo-len(svg)+1),
		"/srv/logo.svg":    svg,
	}
	cases := map[string]struct {
		reason string
		value  string
		want   Logo
		found  []string
	}{
		"SVG":      {"A path is relative to the configuration file. A script in the picture is for the browser to refuse.", "logo.svg", Logo{"conf/logo.svg", typeSVG, []byte(svg)}, nil},
		"PNG":      {"The content decides the type.", "logo.png", Logo{"conf/logo.png", typePNG, dot.Bytes()}, nil},
		"Name":     {"The name of the file does not.", "wrong.png", Logo{"conf/wrong.png", typeSVG, []byte(svg)}, nil},
		"Latin":    {"Other encodings are accepted.", "latin.svg", Logo{"conf/latin.svg", typeSVG, []byte(files["conf/latin.svg"])}, nil},
		"Absolute": {"A path may be absolute.", "/srv/logo.svg", Logo{"/srv/logo.svg", typeSVG, []byte(svg)}, nil},
		"Variable": {"A path may come from the environment.", "${LOGO}", Logo{"conf/logo.svg", typeSVG, []byte(svg)}, nil},
		"Largest":  {"64 KiB are allowed.", "largest.svg", Logo{"conf/largest.svg", typeSVG, []byte(files["conf/largest.svg"])}, nil},
		"Larger":   {"One byte more is not.", "larger.svg", Logo{}, []string{`conf/a.yaml:1:14: CONF005 app.logo: the file "conf/larger.svg" has more than 64 KiB` + hint}},
		"Missing":  {"A file that does not exist is named.", "gone.svg", Logo{}, []string{`conf/a.yaml:1:14: CONF009 app.logo: cannot read the file "conf/gone.svg": file not found | check the spelling`}},
		"Hidden":   {"A name from elsewhere may be a secret.", "${OTHER}", Logo{}, []string{`conf/a.yaml:1:14: CONF009 app.logo: cannot read the file named by the environment variable OTHER: file not found | check the spelling`}},
		"Photo":    {"Other pictures are refused.", "photo.jpg", Logo{}, []string{`conf/a.yaml:1:14: CONF005 app.logo: the file "conf/photo.jpg" is not an SVG or PNG picture` + hint}},
		"Cut":      {"A PNG must have a header.", "cut.png", Logo{}, []string{`conf/a.yaml:1:14: CONF005 app.logo: the file "conf/cut.png" is not an SVG or PNG picture` + hint}},
		"Empty":    {"An empty file is no picture.", "empty.svg", Logo{}, []string{`conf/a.yaml:1:14: CONF005 app.logo: the file "conf/empty.svg" is not an SVG or PNG picture` + hint}},
		"Plain":    {"Browsers show no SVG without its namespace.", "plain.svg", Logo{}, []string{`conf/a.yaml:1:14: CONF005 app.logo: the file "conf/plain.svg" is not an SVG or PNG picture` + hint}},
		"Page":     {"A page that contains a picture is not one.", "page.svg", Logo{}, []string{`conf/a.yaml:1:14: CONF005 app.logo: the file "conf/page.svg" is not an SVG or PNG picture` + hint}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files["conf/a.yaml"] = "app: { logo: " + `"` + tc.value + `" }` + "\n"
			c, found := Load([]string{"conf/a.yaml"}, Options{
				Lookup: vars{"LOGO": "logo.svg", "OTHER": "hunter2"}.lookup, ReadFile: files.read, Sections: PortalSections,
			})
			if diff := cmp.Diff(tc.found, lines(found)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(tc.found) > 0 {
				return
			}
			if diff := cmp.Diff(tc.want, c.App.Logo); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got := c.Effective().Get("app").Get("logo").Str(); got != tc.want.Path {
				t.Errorf("%s: effective path is %q, want %q", tc.reason, got, tc.want.Path)
			}
		})
	}
}
