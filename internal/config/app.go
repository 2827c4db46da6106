package config

// App is the section app: settings of the portal's pages.
type App struct {
	Title string
	// BaseURL is where users open the portal; empty means Backend.BaseURL.
	BaseURL string
}

func (a *App) read(o *object) {
	o.text("title", &a.Title, nil)
	o.baseURL("baseUrl", &a.BaseURL)
	o.passOver(o.rest("key")...)
}
