package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.dev/ingestor/entity"
)

// answers are the claims of an issuer's token.
type answers map[string]json.RawMessage

// maxClaim is the maximum length of a claim that is used as a name.
const maxClaim = 1 << 10

// text returns a string claim, empty if it is not a string.
func (s answers) text(name string) string {
	var v string
	if json.Unmarshal(s[name], &v) != nil || len(v) > maxClaim {
		return ""
	}
	return v
}

// list returns a claim that is a list of strings or a single string; nil if name is
// empty.
func (s answers) list(name string) []string {
	if name == "" {
		return nil
	}
	if v := s.text(name); v != "" {
		return []string{v}
	}
	var some []any
	_ = json.Unmarshal(s[name], &some)
	var out []string
	for _, v := range some {
		if t, ok := v.(string); ok && t != "" && len(t) <= maxClaim {
			out = append(out, t)
		}
	}
	return out
}

// profile returns the profile in the claims.
func (s answers) profile() profile {
	p := profile{Email: s.text("email"), DisplayName: s.text("name"), Picture: s.text("picture")}
	if !strings.HasPrefix(p.Picture, "https://") {
		// A page shows the picture, so the URL must not contain a script.
		p.Picture = ""
	}
	return p
}

// person returns the identity that the claims describe: the user and the groups.
func (i *issuer) person(s answers) (identity, error) {
	if _, ok := s["events"]; ok {
		return identity{}, errors.New("token has a claim events and is not for sign-in")
	}
	claim := i.settings.UserClaim
	name := s.text(claim)
	if name == "" {
		return identity{}, fmt.Errorf("token has no claim %q for the user name", claim)
	}
	var verified bool
	if v, ok := s["email_verified"]; ok && claim == "email" {
		// Users could claim any email address.
		if _ = json.Unmarshal(v, &verified); !verified && s.text("email_verified") != "true" {
			return identity{}, errors.New("email address of the token is not verified")
		}
	}
	user := reference("user", i.settings.UserNamespace, distinct(claim, name))
	groups := s.list(i.settings.GroupsClaim)
	owns, spelled := make([]string, 0, len(groups)), spelling{}
	spelled.add(user, name)
	for _, g := range groups {
		// Some issuers write groups as paths.
		ref := reference("group", i.settings.GroupNamespace, lower(strings.TrimPrefix(g, "/")))
		owns = append(owns, ref)
		spelled.add(ref, g)
	}
	slices.Sort(owns)
	p := s.profile()
	if v, ok := s["email_verified"]; ok && string(v) != "true" && string(v) != `"true"` {
		// Users may have entered an email address that is not theirs.
		p.Email = ""
	}
	return identity{
		ref: user, ownership: append([]string{user}, slices.Compact(owns)...), spelled: spelled, name: p.DisplayName, email: p.Email,
	}, nil
}

// distinct returns the value of a claim as a name. References are case-insensitive,
// and so are user names and email addresses. Subjects are case-sensitive: one with
// capitals gets a character that is invalid in names, so that reference adds a hash.
func distinct(claim, value string) string {
	low := lower(value)
	if claim == "sub" && low != value {
		return value + "#"
	}
	return low
}

// lower returns s with A to Z in lower case. The lower case of some other capitals is
// one of a to z, which could make two names equal.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// hashed matches names that reference has made.
var hashed = regexp.MustCompile(`-[0-9a-f]{32}$`)

// reference returns the reference of a user or group with any name. A name that is
// not valid for an entity gets a hash, longer than the usual one, and so does a name
// that looks as if it had one: users choose names, and must not be able to choose one
// that maps to another user.
func reference(kind, namespace, name string) string {
	const most = 30 // The hash leaves this much of a name.
	namespace, _ = entity.Namespace(namespace)
	if stem, mended := entity.Name(name); mended || hashed.MatchString(name) {
		sum := sha256.Sum256([]byte(name))
		if mended {
			stem = stem[:strings.LastIndexByte(stem, '-')]
		}
		name = strings.TrimRight(stem[:min(len(stem), most)], "-_.") + "-" + hex.EncodeToString(sum[:16])
	}
	return entity.Ref{Kind: kind, Namespace: namespace, Name: name}.String()
}

// printable returns the beginning of s without characters that could control a log or
// a terminal.
func printable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
