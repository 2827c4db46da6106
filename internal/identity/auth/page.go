package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/internal/rest"
)

// navigated returns the handler of an address that browsers navigate to. If it fails, a browser gets
// a page, and any other client the error. retry returns the path of the portal that the
// browser wants to get to, empty if it is not known.
func (a *Auth) navigated(handle func(http.ResponseWriter, *http.Request) (retry string, err error)) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		retry, err := handle(w, r)
		if err == nil {
			return nil
		}
		return a.fail(w, r, retry, err)
	}
}

// refuse responds to a request of a browser that exceeds the rate limit.
func (a *Auth) refuse(w http.ResponseWriter, r *http.Request, err error) error {
	return a.fail(w, r, r.URL.Query().Get("redirect"), err)
}

// fail responds with a page if a browser shows the response, and otherwise returns the error.
func (a *Auth) fail(w http.ResponseWriter, r *http.Request, retry string, err error) error {
	rest.AddVary(w.Header(), "Accept")
	rest.AddVary(w.Header(), "Sec-Fetch-Mode")
	if !isNavigation(r) {
		return err
	}
	return a.writePage(w, r, retry, err)
}

// isNavigation reports whether a browser shows the response as a page: it asks for HTML rather than for
// JSON, and is not running a script.
func isNavigation(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		return false
	}
	accept := strings.Join(r.Header["Accept"], ",")
	return quality(accept, "text/html") > quality(accept, "application/json")
}

// quality returns how much a client wants a media type, by its header Accept: the weight of the
// most specific range that includes the type, 0 if none does.
func quality(accept, media string) float64 {
	kind, _, _ := strings.Cut(media, "/")
	best, weight := 0, 0.0
	for part := range strings.SplitSeq(accept, ",") {
		name, parameters, _ := strings.Cut(part, ";")
		specific := 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case media:
			specific = 3
		case kind + "/*":
			specific = 2
		case "*/*":
			specific = 1
		}
		if specific > best {
			best, weight = specific, weightOf(parameters)
		}
	}
	return weight
}

// weightOf returns the parameter q of a media range, 1 if it has none and 0 if it is invalid.
func weightOf(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

// writePage responds with the page about a failed sign-in. What an operator needs to know is in the log,
// under the id that the page shows.
func (a *Auth) writePage(w http.ResponseWriter, r *http.Request, retry string, err error) error {
	ctx := r.Context()
	if errors.Is(ctx.Err(), context.Canceled) {
		return err // The browser is gone.
	}
	f := rest.FaultOf(err)
	text, quote := pageOf(err, f.Status)
	page := struct {
		pageText
		Portal, Quote, Retry, Home, ID string
		Style                          template.CSS
	}{text, cmp.Or(a.title, "Portal"), quote, "", a.home, rest.RequestID(ctx), pageStyle}
	if !text.Final {
		page.Retry = a.base + "/oidc/start"
		if retry != "" {
			page.Retry += "?redirect=" + url.QueryEscape(retry)
		}
	}
	var b bytes.Buffer
	if bad := pageTemplate.Execute(&b, page); bad != nil {
		return errors.Join(err, fmt.Errorf("cannot write the page: %w", bad))
	}
	if f.Status != http.StatusTooManyRequests { // Nothing failed, and there may be many.
		a.log.WarnContext(ctx, "sign-in failed", "id", page.ID, "status", f.Status, "error", cause(err))
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	if f.Status == http.StatusUnauthorized {
		h.Set("Www-Authenticate", "Bearer")
	}
	w.WriteHeader(f.Status)
	_, err = w.Write(b.Bytes())
	return err
}

// pageStyle is the style of the page, and pagePolicy allows it and nothing else.
const pageStyle template.CSS = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}` +
	`body{margin:0;min-height:100vh;display:grid;place-items:center}` +
	`main{max-width:34rem;padding:2rem}` +
	`h1{font-size:1.5rem;line-height:1.3;margin:0 0 1rem}` +
	`blockquote{margin:1rem 0;padding:.25rem 1rem;border-left:3px solid;overflow-wrap:anywhere}` +
	`nav{display:flex;flex-wrap:wrap;gap:1.5rem;margin:1.5rem 0}` +
	`footer{font-size:.875rem;overflow-wrap:anywhere}`

var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

var pageTemplate = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>{{.Title}} – {{.Portal}}</title>
    <style>{{.Style}}</style>
  </head>
  <body>
    <main>
      <h1>{{.Title}}</h1>
      <p>{{.What}}</p>
{{- if .Quote}}
      <p>The sign-in provider says:</p>
      <blockquote>{{.Quote}}</blockquote>
{{- end}}
      <p>{{.Do}}</p>
      <nav>
{{- if .Retry}}
        <a href="{{.Retry}}">Try again</a>
{{- end}}
        <a href="{{.Home}}">Back to the portal</a>
      </nav>
{{- if .ID}}
      <footer>Request ID: <code>{{.ID}}</code></footer>
{{- end}}
    </main>
  </body>
</html>
`))
