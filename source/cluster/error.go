package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	"example.dev/ingestor/source/cluster/access"
)

// descriptions complete "Cluster production …".
var descriptions = map[Reason]string{
	Unreachable:  "cannot be reached",
	Timeout:      "did not answer in time",
	Certificate:  "has a certificate that is not trusted",
	Unauthorized: "refuses the portal's credential",
	Server:       "answers with an error",
	Settings:     "cannot be used with its settings",
}

// Describe completes "Cluster production …", for people who must not see the address of the
// cluster.
func (r Reason) Describe() string {
	if what, ok := descriptions[r]; ok {
		return what
	}
	return "cannot be read"
}

// Reason is the kind of failure of an Error.
type Reason string

// Reasons of failures.
const (
	// Settings means that the settings do not allow any call.
	Settings Reason = "settings"
	// Unreachable means that no server responds at the address.
	Unreachable Reason = "unreachable"
	// Timeout means that a call took too long.
	Timeout Reason = "timeout"
	// Certificate means that the server's certificate cannot be trusted.
	Certificate Reason = "certificate"
	// Unauthorized means that the credential is wrong, expired or not available.
	Unauthorized Reason = "unauthorized"
	// Forbidden means that a permission is missing.
	Forbidden Reason = "forbidden"
	// Absent means that the server does not have the kind of object.
	Absent Reason = "absent"
	// Server means that the server responds, but not as it should.
	Server Reason = "server"
	// Unreadable means that an object cannot be decoded.
	Unreadable Reason = "spoilt"
	// Canceled means that the call was canceled.
	Canceled Reason = "canceled"
)

// Error is a failure of an operation in a cluster.
type Error struct {
	Cluster string
	// Doing completes "cannot …".
	Doing  string
	Reason Reason
	Err    error
	// Hint says how to solve the problem.
	Hint string
	// Missing is the permission to add, if that is the reason.
	Missing Rule
}

// Error returns the cluster, the operation and the cause.
func (e *Error) Error() string {
	return fmt.Sprintf("cluster %q: cannot %s: %v", e.Cluster, e.Doing, cause(e.Err))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func isReason(err error, reason Reason) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Reason == reason
}

func settingsError(cluster string, err error) *Error {
	e := &Error{Cluster: cluster, Doing: "connect", Reason: Settings, Err: err}
	if a, ok := errors.AsType[*access.Error](err); ok {
		e.Hint = a.Hint
	}
	return e
}

// cause returns an error without the URL of the call, which is long and redundant.
func cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// explain returns an Error with the reason and a hint.
func (c *Cluster) explain(r request, err error) *Error {
	e := &Error{Cluster: c.name, Doing: r.doing, Reason: Server, Err: err}
	host := strings.TrimPrefix(strings.TrimPrefix(c.way.URL, "https://"), "http://")
	status, hasStatus := errors.AsType[*statusError](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	_, isForeign := errors.AsType[*foreignError](err)
	fault := certificateFault(err)
	switch {
	case errors.Is(err, context.Canceled):
		e.Reason = Canceled
	case hasStatus:
		c.explainStatus(e, status, r)
	case isCredential(err):
		e.Reason, e.Hint = Unauthorized, "check the cluster's credentials, and that their provider is reachable"
	case fault != "":
		e.Reason, e.Hint = Certificate, fault
	case isDNS && dns.IsNotFound:
		e.Reason, e.Err = Unreachable, fmt.Errorf("cannot resolve host %q", dns.Name)
		e.Hint = "check the url of the cluster and the DNS settings of this machine"
	case errors.Is(err, errSlow):
		e.Reason, e.Err = Timeout, fmt.Errorf("%s did not respond within %v", host, c.opts.Timeout)
		e.Hint = "check the address, proxies and firewalls, or set a longer timeout"
	case errors.Is(err, context.DeadlineExceeded):
		e.Reason, e.Err = Timeout, errors.New("overall timeout exceeded")
		e.Hint = "set a longer timeout, or check what takes so long"
	case isTimeout(err):
		e.Reason = Timeout
		e.Hint = "check the address, proxies and firewalls"
	case isForeign:
		e.Hint = "check the url of the cluster; this does not look like an API server"
	case isCut(err):
		e.Hint = "try again, and check the log of the server or of a proxy in front of it; the connection was closed too early"
	default:
		e.Reason = Unreachable
		e.Hint = fmt.Sprintf("check that the API server is running, that its url is correct (%s), and that this machine can reach it", c.way.URL)
	}
	return e
}

func (c *Cluster) explainStatus(e *Error, s *statusError, r request) {
	switch {
	case s.code == http.StatusUnauthorized:
		e.Reason, e.Hint = Unauthorized, "renew the credential, which is invalid or has expired; for a service account, run kubectl create token"
	case s.code == http.StatusForbidden && strings.Contains(s.message, `"system:anonymous"`):
		e.Reason, e.Hint = Unauthorized, "check the token, certificate or user in the cluster's settings; no valid credential was sent"
	case s.code == http.StatusForbidden && c.as != nil && strings.Contains(s.message, "cannot impersonate"):
		e.Reason, e.Hint = Forbidden, "apply deploy/rbac-impersonate.yaml to the cluster; the portal's account may not impersonate"
	case s.code == http.StatusForbidden:
		e.Reason, e.Missing = Forbidden, r.needs
		e.Hint = "the account lacks a permission"
		to := "its ClusterRole"
		if c.as != nil {
			e.Hint = c.as.user + " lacks a permission in the cluster"
			to = "one of the user's Roles or ClusterRoles"
		}
		if !r.needs.Empty() {
			e.Hint += "; add this rule to " + to + ":\n" + r.needs.YAML()
		}
	case s.code == http.StatusNotFound:
		e.Reason, e.Hint = Absent, "check that the definition of this kind is installed and established"
	case s.code == http.StatusTooManyRequests:
		e.Hint = "try again later, or send fewer requests; the server is too busy"
	case s.code == http.StatusGone:
		e.Hint = "try again; the list changed while its pages were read"
	case s.code == http.StatusBadRequest && strings.HasPrefix(c.way.URL, "http://"):
		e.Hint = "write https:// in the url of the cluster, and check that it is the URL of an API server"
	case s.code >= 500:
		e.Hint = "try again, and check the server's log if the server error persists"
	default:
		e.Hint = "check that the url of the cluster is the URL of an API server"
	}
}

func isTimeout(err error) bool {
	// The HTTP client may return the cause of the context's end instead of its error.
	if errors.Is(err, errSlow) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	n, ok := errors.AsType[net.Error](err)
	return ok && n.Timeout()
}

func isCut(err error) bool {
	_, ok := errors.AsType[*cutError](err)
	return ok || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isCredential reports whether a credential could not be obtained. client-go has no
// error type for credential programs that fail.
func isCredential(err error) bool {
	_, ok := errors.AsType[*access.CredentialError](err)
	return ok || strings.Contains(err.Error(), "getting credentials: ")
}

// certificateFault returns a hint for a certificate that is not trusted; empty if
// that is not the problem.
func certificateFault(err error) string {
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("use one of the names of the certificate in the url of the cluster: %s", strings.Join(namesOf(host.Certificate), ", "))
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "set caFile or caData (certificate-authority-data in a kubeconfig) to the CA that signed the certificate; for a test, skipTLSVerify accepts any certificate"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "renew the certificate, which has expired or is not valid yet, and check this machine's clock"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "check caFile or caData; the certificate is not trusted"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "check the port, or write http:// in the url of the cluster if intended; the server does not use TLS"
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return fmt.Sprintf("check the client certificate; the server ended the TLS handshake (%s)", alert.Error())
	}
	if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return "check the port, or write http:// in the url of the cluster if intended; the server does not use TLS"
	}
	return ""
}

func namesOf(cert *x509.Certificate) []string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return []string{"no host"}
	}
	return names
}
