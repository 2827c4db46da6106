package config

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"

	"example.dev/ingestor/internal/config/keys"
)

// App is the section app: settings of the portal's pages.
type App struct {
	Title string
	// BaseURL is where users open the portal; empty means Backend.BaseURL.
	BaseURL string
	// Logo is shown on the pages; its zero value means none.
	Logo Logo
}

// Logo is a picture.
type Logo struct {
	// Path is its file, Type its media type, and Data its content.
	Path, Type string
	Data       []byte
}

// maxLogo is the maximum size of a logo, in bytes: every page loads it.
const maxLogo = 64 << 10

// Media types of logos.
const (
	typeSVG = "image/svg+xml"
	typePNG = "image/png"
)

func (a *App) read(m *keys.Map) {
	m.Text("title", &a.Title, nil)
	readBaseURL(m, "baseUrl", &a.BaseURL)
	m.FileBytes("logo", maxLogo, "specify an SVG or PNG file of at most 64 KiB", &a.Logo.Path, &a.Logo.Data, func(data []byte) string {
		if a.Logo.Type = pictureType(data); a.Logo.Type == "" {
			return "an SVG or PNG picture"
		}
		return ""
	})
	m.PassOver(m.Rest("key")...)
}

// pictureType returns the media type of a picture by its content; empty if it is neither SVG nor
// PNG.
func pictureType(data []byte) string {
	if _, err := png.DecodeConfig(bytes.NewReader(data)); err == nil {
		return typePNG
	}
	// The first element decides. Browsers show no picture without its namespace.
	d := xml.NewDecoder(bytes.NewReader(data))
	// Names of elements are the same in all common encodings.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if first, ok := token.(xml.StartElement); ok {
			if first.Name == (xml.Name{Space: "http://www.w3.org/2000/svg", Local: "svg"}) {
				return typeSVG
			}
			return ""
		}
	}
}
