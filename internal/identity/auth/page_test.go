package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	provider "example.dev/ingestor/test/issuer"
)

// accepted is the header Accept of a browser that navigates.
const accepted = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

// navigate requests a page as a browser does.
func (p *portal) navigate(t *testing.T, c *http.Client, path string) answer {
	t.Helper()
	return p.get(t, c, path, http.Header{"Accept": {accepted}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}})
}

func (p *portal) get(t *testing.T, c *http.Client, path string, h http.Header) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+strings.TrimPrefix(path, p.url), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = h
	return send(t, c, req)
}

// hostile is a text that must not become part of a page as it is.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\x1b[2J" + `</blockquote></main><a href="javascript:alert(1)">Try again</a>`

// TestSignInPage checks what a browser sees if a sign-in fails, whatever fails, with a real issuer.
func TestSignInPage(t *testing.T) {
	t.Parallel()
	many := make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprintf("group-%d", i)
	}
	p, i := withIssuer(t, provider.Options{Groups: []string{"a"}, People: map[string][]string{"crowd": many}})
	none := newPortal(t)
	none.open(t, time.Now)
	down := newPortal(t)
	down.setup = config.Auth{OIDC: config.OIDCProvider{Enabled: true, Issuer: "https://127.0.0.1:1", ClientID: "x"}}
	down.open(t, time.Now)
	late := newPortal(t)
	late.setup = p.setup
	clock := newClock()
	late.open(t, clock.now)

	const wanted = "/catalog?kind=api&filter=a%20b"
	begin := func(t *testing.T, p *portal, c *http.Client) url.Values {
		t.Helper()
		away := p.navigate(t, c, "/api/auth/oidc/start?redirect="+url.QueryEscape(wanted))
		at, err := url.Parse(away.Header.Get("Location"))
		if err != nil || away.StatusCode != http.StatusFound {
			t.Fatalf("start returned %s %s, want 302", away.Status, away.body)
		}
		return at.Query()
	}
	finish := func(state url.Values, more string) string { return frame + "?state=" + state.Get("state") + more }
	cases := map[string]struct {
		reason string
		portal *portal
		visit  func(t *testing.T, c *http.Client) answer
		status int
		page   pageText
		quote  string
		retry  string // the redirect of the link
	}{
		"NotConfigured": {
			"Without an issuer there is no sign-in, and no link to try again.", none,
			func(t *testing.T, c *http.Client) answer { return none.navigate(t, c, "/api/auth/oidc/start") }, 404, pageNone, "", "",
		},
		"NotConfiguredFrame": {
			"So it is at the end of a sign-in.", none,
			func(t *testing.T, c *http.Client) answer { return none.navigate(t, c, frame+"?state=a&code=b") }, 404, pageNone, "", "",
		},
		"Redirect": {
			"A redirect to another site is refused, and not offered again.", p,
			func(t *testing.T, c *http.Client) answer {
				return p.navigate(t, c, "/api/auth/oidc/start?redirect="+url.QueryEscape("https://evil.example/"))
			}, 400, pageLink, "", "",
		},
		"Repeated": {
			"A repeated parameter is refused.", p,
			func(t *testing.T, c *http.Client) answer { return p.navigate(t, c, frame+"?state=a&state=b") }, 400, pageLink, "", "",
		},
		"Away": {
			"The page that the user wanted is kept while the issuer is away.", down,
			func(t *testing.T, c *http.Client) answer {
				return down.navigate(t, c, "/api/auth/oidc/start?redirect="+url.QueryEscape(wanted))
			}, 503, pageAway, "", wanted,
		},
		"NoCookie": {
			"A response that another browser asked for is refused.", p,
			func(t *testing.T, c *http.Client) answer {
				return p.navigate(t, c, finish(begin(t, p, browser(t)), "&code=x"))
			}, 401, pageNotStarted, "", "",
		},
		"State": {
			"Only the last sign-in of a browser can be completed.", p,
			func(t *testing.T, c *http.Client) answer {
				first := begin(t, p, c)
				begin(t, p, c)
				return p.navigate(t, c, finish(first, "&code=x"))
			}, 401, pageReplaced, "", wanted,
		},
		"Late": {
			"A sign-in expires.", late,
			func(t *testing.T, c *http.Client) answer {
				state := begin(t, late, c)
				clock.forward(attemptLasts + time.Second)
				return late.navigate(t, c, finish(state, "&code=x"))
			}, 401, pageTooLate, "", wanted,
		},
		"Denied": {
			"The message of the issuer is shown as a quotation.", p,
			func(t *testing.T, c *http.Client) answer {
				return p.navigate(t, c, finish(begin(t, p, c), "&error=access_denied&error_description="+url.QueryEscape("You are not assigned to this application.")))
			}, 401, pageRefused, "access_denied You are not assigned to this application.", wanted,
		},
		"Hostile": {
			"A message of the issuer cannot change the page.", p,
			func(t *testing.T, c *http.Client) answer {
				return p.navigate(t, c, finish(begin(t, p, c), "&error=x&error_description="+url.QueryEscape(hostile)))
			}, 401, pageRefused, "x " + strings.ReplaceAll(hostile, "\x1b", " "), wanted,
		},
		"Code": {
			"A code that the issuer does not know is refused by it.", p,
			func(t *testing.T, c *http.Client) answer {
				return p.navigate(t, c, finish(begin(t, p, c), "&code=made-up"))
			}, 401, pageInvalid, "", wanted,
		},
		"NoCode": {
			"A response without a code is refused.", p,
			func(t *testing.T, c *http.Client) answer { return p.navigate(t, c, finish(begin(t, p, c), "")) }, 401, pageInvalid, "", wanted,
		},
		"OtherIssuer": {
			"A response of another issuer is refused.", p,
			func(t *testing.T, c *http.Client) answer {
				return p.navigate(t, c, finish(begin(t, p, c), "&code=x&iss=https://evil.example"))
			}, 401, pageInvalid, "", wanted,
		},
		"Unknown": {
			"An account without a user name cannot be used.", p,
			func(t *testing.T, c *http.Client) answer {
				settings := p.users.issuer.settings
				defer func() { p.users.issuer.settings = settings }()
				p.users.issuer.settings.UserClaim = "badge"
				return p.navigate(t, c, p.agree(t, i, c, i.Subject, wanted))
			}, 401, pageUnknown, "", wanted,
		},
		"Groups": {
			"An account with too many groups cannot be used.", p,
			func(t *testing.T, c *http.Client) answer {
				return p.navigate(t, c, p.agree(t, i, c, "crowd", wanted))
			}, 403, pageGroups, "", wanted,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.visit(t, browser(t))
			checkPage(t, tc.portal, got, tc.status, tc.page)
			if tc.quote != "" && !strings.Contains(string(got.body), "<blockquote>"+html.EscapeString(tc.quote)+"</blockquote>") {
				t.Errorf("%s: page does not quote %q:\n%s", tc.reason, tc.quote, got.body)
			}
			links := linksOf(string(got.body))
			want := map[string]string{"Back to the portal": tc.portal.url}
			if !tc.page.Final {
				want["Try again"] = tc.portal.url + "/api/auth/oidc/start"
				if tc.retry != "" {
					want["Try again"] += "?redirect=" + url.QueryEscape(tc.retry)
				}
			}
			if diff := cmp.Diff(want, links); diff != "" {
				t.Errorf("%s: links (-want +got):\n%s", tc.reason, diff)
			}
		})
	}

	// The link of a page starts a sign-in that gets to the page that was wanted.
	c := browser(t)
	failed := p.navigate(t, c, finish(begin(t, p, c), "&error=access_denied"))
	away := p.navigate(t, c, linksOf(string(failed.body))["Try again"])
	home := p.navigate(t, c, i.Agree(t, away.Header.Get("Location")))
	if home.StatusCode != http.StatusFound || home.Header.Get("Location") != p.url+wanted {
		t.Errorf("second attempt returned %s %v, want a redirect to %s", home.Status, home.Header, wanted)
	}

	// The issuer may go away between the two requests.
	at := p.agree(t, i, c, i.Subject, wanted)
	i.Stop()
	checkPage(t, p, p.navigate(t, c, at), http.StatusServiceUnavailable, pageAway)
}

// agree signs in at the issuer, and returns the address that the issuer redirects to.
func (p *portal) agree(t *testing.T, i *provider.Issuer, c *http.Client, who, wanted string) string {
	t.Helper()
	away := p.navigate(t, c, "/api/auth/oidc/start?redirect="+url.QueryEscape(wanted))
	back, err := i.AgreeAs(t.Context(), who, away.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

var (
	link   = regexp.MustCompile(`<a href="([^"]*)">([^<]*)</a>`)
	quoted = regexp.MustCompile(`(?s)<blockquote>(.*?)</blockquote>`)
	active = regexp.MustCompile(`(?i)<(script|img|iframe|form|object|link|base)\b|\son[a-z]+=|\sstyle=|javascript:`)
)

// linksOf returns the links of a page by their text.
func linksOf(page string) map[string]string {
	out := map[string]string{}
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		out[m[2]] = html.UnescapeString(m[1])
	}
	return out
}

// checkPage checks what all pages about failed sign-ins have in common.
func checkPage(t *testing.T, p *portal, got answer, status int, page pageText) {
	t.Helper()
	body := string(got.body)
	if got.StatusCode != status {
		t.Fatalf("status is %s, want %d:\n%s", got.Status, status, body)
	}
	for _, want := range []string{"<h1>" + page.Title + "</h1>", "<p>" + page.What + "</p>", "<p>" + page.Do + "</p>", `<meta name="robots" content="noindex">`} {
		if !strings.Contains(body, want) {
			t.Errorf("page lacks %s:\n%s", want, body)
		}
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Robots-Tag": "noindex",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Content-Security-Policy": pagePolicy,
	} {
		if diff := cmp.Diff([]string{want}, got.Header[name]); diff != "" {
			t.Errorf("header %s (-want +got):\n%s", name, diff)
		}
	}
	sheet := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(body)
	if sheet == nil {
		t.Fatalf("page has no style:\n%s", body)
	}
	sum := sha256.Sum256([]byte(sheet[1]))
	if want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"; !strings.Contains(pagePolicy, want) {
		t.Errorf("policy %s lacks %s", pagePolicy, want)
	}
	// A message of the issuer is text.
	if said := quoted.FindStringSubmatch(body); said != nil && strings.ContainsAny(said[1], "<>\"'\x1b") {
		t.Errorf("page has markup of the issuer:\n%s", body)
	}
	if found := active.FindString(quoted.ReplaceAllString(body, "")); found != "" {
		t.Errorf("page has %s:\n%s", found, body)
	}
	for _, operators := range []string{"auth.", "configur", "issuer", "claim", "kubectl", "backend."} {
		if strings.Contains(strings.ReplaceAll(body, p.url, ""), operators) {
			t.Errorf("page has %q, which is for operators:\n%s", operators, body)
		}
	}
	id := got.Header.Get("X-Request-Id")
	if id == "" || !strings.Contains(body, "Request ID: <code>"+id+"</code>") || !strings.Contains(p.said.String(), `"msg":"sign-in failed","id":"`+id+`"`) {
		t.Errorf("request ID %q is not in the page and the log:\n%s\n%s", id, body, p.said)
	}
}

// TestSignInNegotiation checks who gets a page and who gets JSON.
func TestSignInNegotiation(t *testing.T) {
	t.Parallel()
	none := newPortal(t)
	none.open(t, time.Now)
	cases := map[string]struct {
		reason       string
		accept, mode string
		page         bool
	}{
		"Browser":     {"A browser that navigates gets a page.", accepted, "navigate", true},
		"OldBrowser":  {"Old browsers do not say that they navigate.", accepted, "", true},
		"Script":      {"A script of a page gets JSON.", accepted, "cors", false},
		"SameOrigin":  {"So does one of the same origin.", "text/html", "same-origin", false},
		"Nothing":     {"A client that does not say what it wants gets JSON.", "", "", false},
		"Anything":    {"A client that takes anything gets JSON.", "*/*", "", false},
		"JSON":        {"A client that wants JSON gets it.", "application/json", "navigate", false},
		"PrefersJSON": {"The preferred type decides.", "text/html;q=0.5, application/json", "", false},
		"PrefersHTML": {"The preferred type decides.", "application/json;q=0.5, text/html;q=0.9", "", true},
		"Equal":       {"Between equals, JSON is the API's format.", "text/html, application/json", "", false},
		"Refuses":     {"A weight of 0 refuses a type.", "text/html;q=0, */*;q=0.1", "", false},
		"Range":       {"A range of types counts too.", "text/*, */*;q=0.1", "", true},
		"Specific":    {"A specific type overrides a range.", "text/html;q=0.1, text/*, application/json;q=0.2", "", false},
		"Case":        {"Names of types have no case.", "Text/HTML ; Q=0.7, */*;q=0.1", "", true},
		"Broken":      {"A weight that cannot be read refuses.", "text/html;q=lots, */*;q=0.1", "", false},
		"NotANumber":  {"A weight is a number between 0 and 1.", "text/html;q=NaN, */*;q=0.1", "", false},
		"Parameters":  {"Other parameters do not matter.", "text/html;level=1;q=0.9, */*;q=0.8", "", true},
		"OnlyCommas":  {"An empty list wants nothing.", ", ,;", "", false},
		"OnlyHTML":    {"HTML alone is preferred to JSON.", "text/html", "", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for key, value := range map[string]string{"Accept": tc.accept, "Sec-Fetch-Mode": tc.mode} {
				if value != "" {
					h.Set(key, value)
				}
			}
			for _, path := range []string{"/api/auth/oidc/start", frame} {
				got := none.get(t, browser(t), path, h)
				want := "application/json; charset=utf-8"
				if tc.page {
					want = "text/html; charset=utf-8"
				}
				if got.StatusCode != http.StatusNotFound || got.Header.Get("Content-Type") != want {
					t.Errorf("%s: response is %s, %s; want 404, %s", tc.reason, got.Status, got.Header.Get("Content-Type"), want)
				}
				if diff := cmp.Diff([]string{"Accept", "Sec-Fetch-Mode"}, got.Header["Vary"]); diff != "" {
					t.Errorf("%s: Vary (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
	// Other endpoints have no page.
	if got := none.navigate(t, browser(t), "/api/auth/oidc/refresh"); got.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("refresh returned %s, want JSON", got.Header.Get("Content-Type"))
	}
}

// TestSignInPageTitle checks that the page has the name of the portal, whatever it contains.
func TestSignInPageTitle(t *testing.T) {
	t.Parallel()
	a := newAuth(t, Options{Config: config.Auth{}, BaseURL: base, AppURL: "javascript:alert(1)", Title: "<b>Ops</b>"})
	r := httptest.NewRequest(http.MethodGet, "/api/auth/oidc/start", nil)
	r.Header.Set("Accept", accepted)
	w := httptest.NewRecorder()
	serve(t, a).ServeHTTP(w, r)
	body := w.Body.String()
	if !strings.Contains(body, "<title>Sign-in is not set up – &lt;b&gt;Ops&lt;/b&gt;</title>") || strings.Contains(body, "javascript:") {
		t.Errorf("page is:\n%s", body)
	}
}

// TestSignInPageTooMany checks that a browser which exceeds the rate limit sees a page, keeps where it wants to go, and
// fills no log.
func TestSignInPageTooMany(t *testing.T) {
	t.Parallel()
	var log diary
	a := newAuth(t, Options{Config: config.Auth{}, BaseURL: base, AppURL: base, Log: slog.New(slog.NewTextHandler(&log, nil))})
	h := serveLimited(t, a, config.RateLimit{Enabled: true, Requests: 1, Window: time.Hour})
	call(t, h, http.MethodGet, "/api/auth/oidc/start", nil)
	for _, tc := range []struct{ accept, want string }{{accepted, "<h1>Too many requests</h1>"}, {"application/json", `"name":"TooManyRequestsError"`}} {
		r := httptest.NewRequest(http.MethodGet, "/api/auth/oidc/start?redirect=/tasks/%22%3E", nil)
		r.Header.Set("Accept", tc.accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(body, tc.want) {
			t.Errorf("response to %s is %d with Retry-After %q:\n%s", tc.accept, w.Code, w.Header().Get("Retry-After"), body)
		} else if tc.accept == accepted && !strings.Contains(body, `/oidc/start?redirect=%2Ftasks%2F%22%3E"`) {
			t.Errorf("page does not lead back to the task:\n%s", body)
		}
	}
	if strings.Contains(log.String(), "sign-in failed") {
		t.Errorf("log is:\n%s", log.String())
	}
}
