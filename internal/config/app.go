package config

// App is the section app: what the portal's pages say about themselves.
type App struct {
	Title string
	// BaseURL is where people open the portal; empty means Backend.BaseURL.
	BaseURL string
}

func (a *App) read(o *object) {
	o.text("title", &a.Title, nil)
	o.baseURL("baseUrl", &a.BaseURL)
	o.passOver(o.rest("key")...)
}
