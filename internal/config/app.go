package config

import "example.dev/ingestor/internal/config/keys"

// App is the section app: settings of the portal's pages.
type App struct {
	Title string
	// BaseURL is where users open the portal; empty means Backend.BaseURL.
	BaseURL string
}

func (a *App) read(m *keys.Map) {
	m.Text("title", &a.Title, nil)
	readBaseURL(m, "baseUrl", &a.BaseURL)
	m.PassOver(m.Rest("key")...)
}
