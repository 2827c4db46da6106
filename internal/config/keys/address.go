package keys

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/rule"
)

// URL reads an http or https address. It is never quoted in findings, since it may
// contain credentials.
func (m *Map) URL(key string, to *string) {
	v, text, ok := m.Str(key)
	if ok && IsURL(v, text) {
		*to = text
	}
	m.Done(key, "url", tree.OptStr(*to))
}

// IsURL checks an address, and reports one that cannot be used.
func IsURL(v input.Value, text string) bool {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", !IsPort(u):
		v.Report(rule.Value, "write it as in https://10.0.0.1:6443", "%s: want an address that begins with https:// or http://, and a host", v.Path)
	case u.User != nil:
		v.Report(rule.Exposed, "remove everything before the @, and write the credentials under their own keys",
			"%s contains credentials, which would be logged", v.Path)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		v.Report(rule.Value, "remove everything after the ? or #", "%s: want an address without a query", v.Path)
	default:
		return true
	}
	return false
}

// IsPort reports whether the port of an address is valid; it may be absent.
func IsPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	_, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil
}

// IsPlain reports whether traffic to an address can be read in transit: it uses plain
// HTTP, and leaves the machine.
func IsPlain(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	return !IsThisMachine(u.Hostname())
}

// IsThisMachine reports whether traffic to a host stays on the machine.
func IsThisMachine(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Authority reads the CA certificates of a server, from one of two keys.
func (m *Map) Authority(file *string, data *[]byte) {
	m.FilePath("caFile", file)
	v, text, ok := m.Str("caData")
	if ok {
		*data = certificates(text)
		if *data == nil {
			v.Report(rule.Value, "write the text of the PEM file, or that text in base64", "%s: want certificates in PEM", v.Path)
		}
	}
	m.Done("caData", "PEM, or PEM in base64", tree.OptStr(string(*data)))
	m.OneOf("caFile", "caData")
}

// certificates returns the PEM in text, which may be in base64; nil if it contains no
// certificate, or an invalid one.
func certificates(text string) []byte {
	data := []byte(text)
	if !strings.Contains(text, "-----BEGIN") {
		var err error
		if data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err != nil {
			return nil
		}
	}
	found := false
	for rest := data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return nil
		}
		found = true
	}
	if !found {
		return nil
	}
	return bytes.TrimSpace(data)
}
