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

// maxClaim is the longest value of a claim that a name is made of.
const maxClaim = 1 << 10

// text returns a claim that is a text; empty if it is not.
func (s answers) text(name string) string {
	var v string
	if json.Unmarshal(s[name], &v) != nil || len(v) > maxClaim {
		return ""
	}
	return v
}

// list returns a claim that is a list of texts, or one alone; nothing if no
// claim is named.
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

// profile returns what the claims say of a person.
func (s answers) profile() profile {
	p := profile{Email: s.text("email"), DisplayName: s.text("name"), Picture: s.text("picture")}
	if !strings.HasPrefix(p.Picture, "https://") {
		// A picture is shown by a page: it is no place for a script.
		p.Picture = ""
	}
	return p
}

// person returns who the claims speak of: the user, and the groups they are in.
func (i *issuer) person(s answers) (identity, error) {
	if _, ok := s["events"]; ok {
		return identity{}, errors.New("it tells of events, and is not for signing in")
	}
	claim := i.settings.UserClaim
	name := s.text(claim)
	if name == "" {
		return identity{}, fmt.Errorf("it has no claim %q to name the user by", claim)
	}
	var verified bool
	if v, ok := s["email_verified"]; ok && claim == "email" {
		// Anybody could say that an address is theirs.
		if _ = json.Unmarshal(v, &verified); !verified && s.text("email_verified") != "true" {
			return identity{}, errors.New("its email address has not been verified")
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
		// Whoever signs in may have written down the address of another.
		p.Email = ""
	}
	return identity{
		ref: user, ownership: append([]string{user}, slices.Compact(owns)...), spelled: spelled, name: p.DisplayName, email: p.Email,
	}, nil
}

// distinct returns the value of a claim as a name. References know no capital
// letters, and neither do people's names and addresses. A subject does: one
// with capitals gets a character that no name has, so that its hash is added.
func distinct(claim, value string) string {
	low := lower(value)
	if claim == "sub" && low != value {
		return value + "#"
	}
	return low
}

// lower returns s with A to Z in lower case. Some other capitals have one of a
// to z for their small letter, so that somebody could be called like another.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// hashed is a name that reference has made.
var hashed = regexp.MustCompile(`-[0-9a-f]{32}$`)

// reference returns the reference of a user or group whose name may be
// anything. What is no name of an entity becomes one with a hash in it, which
// is longer than usual, and so does what looks like one: people choose names,
// and must not find one that makes them somebody else.
func reference(kind, namespace, name string) string {
	const most = 30 // What the hash leaves of a name.
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

// printable returns the beginning of s without what a log or a terminal could
// take for its own.
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
