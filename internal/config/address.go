package config

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
)

// url reads an http or https address. It is never quoted in findings, since it may
// contain credentials.
func (o *object) url(key string, to *string) {
	v, text, ok := o.str(key)
	if ok && o.r.isURL(v, text) {
		*to = text
	}
	o.done(key, "url", tree.OptStr(*to))
}

// isURL checks an address, and reports one that cannot be used.
func (r *reader) isURL(v value, text string) bool {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", !isPort(u):
		r.report(RuleValue, v.at, v.path, "write it as in https://10.0.0.1:6443", "%s: want an address that begins with https:// or http://, and a host", v.path)
	case u.User != nil:
		r.report(RuleExposed, v.at, v.path, "remove everything before the @, and write the credentials under their own keys",
			"%s contains credentials, which would be logged", v.path)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		r.report(RuleValue, v.at, v.path, "remove everything after the ? or #", "%s: want an address without a query", v.path)
	default:
		return true
	}
	return false
}

func isPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	_, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil
}

// isPlain reports whether traffic to an address can be read in transit: it uses plain
// HTTP, and leaves the machine.
func isPlain(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	return !isThisMachine(u.Hostname())
}

// isThisMachine reports whether traffic to a host stays on the machine.
func isThisMachine(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// authority reads the CA certificates of a server, from one of two keys.
func (o *object) authority(file *string, data *[]byte) {
	o.filePath("caFile", file)
	v, text, ok := o.str("caData")
	if ok {
		*data = certificates(text)
		if *data == nil {
			o.r.report(RuleValue, v.at, v.path, "write the text of the PEM file, or that text in base64", "%s: want certificates in PEM", v.path)
		}
	}
	o.done("caData", "PEM, or PEM in base64", tree.OptStr(string(*data)))
	o.oneOf("caFile", "caData")
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
