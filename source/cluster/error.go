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
	// Spoilt means that an object cannot be decoded.
	Spoilt Reason = "spoilt"
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
		e.Reason, e.Hint = Unauthorized, "check the settings of its credentials, and that what gives them can be reached"
	case fault != "":
		e.Reason, e.Hint = Certificate, fault
	case isDNS && dns.IsNotFound:
		e.Reason, e.Err = Unreachable, fmt.Errorf("no address is known for host %q", dns.Name)
		e.Hint = "check the spelling of its url, and the name service of this machine"
	case errors.Is(err, errSlow):
		e.Reason, e.Err = Timeout, fmt.Errorf("%s did not answer within %v", host, c.opts.Timeout)
		e.Hint = "something accepts connections there and stays silent, or drops them: check the address, proxies and firewalls; a slow server can be given a longer timeout"
	case errors.Is(err, context.DeadlineExceeded):
		e.Reason, e.Err = Timeout, errors.New("the time for all of it was over")
		e.Hint = "give the whole more time, or look for what takes so long"
	case isTimeout(err):
		e.Reason = Timeout
		e.Hint = "something accepts connections there and stays silent, or drops them: check the address, proxies and firewalls"
	case isForeign:
		e.Hint = "this does not look like an API server: check its url"
	case isCut(err):
		e.Hint = "the server, or a proxy before it, ended the connection too early: try again, and look at its log if it goes on"
	default:
		e.Reason = Unreachable
		e.Hint = fmt.Sprintf("check that the API server runs, that its url is right (%s), and that this machine may reach it", c.way.URL)
	}
	return e
}

func (c *Cluster) explainStatus(e *Error, s *statusError, r request) {
	switch {
	case s.code == http.StatusUnauthorized:
		e.Reason, e.Hint = Unauthorized, "the server does not accept the credential, which is wrong or has expired: get a new one, for a service account with kubectl create token"
	case s.code == http.StatusForbidden && strings.Contains(s.message, `"system:anonymous"`):
		e.Reason, e.Hint = Unauthorized, "no credential was sent, or none the server knows: check the token, certificate or user of its settings"
	case s.code == http.StatusForbidden && c.as != nil && strings.Contains(s.message, "cannot impersonate"):
		e.Reason, e.Hint = Forbidden, "the portal's account may not impersonate: apply deploy/rbac-impersonate.yaml to the cluster"
	case s.code == http.StatusForbidden:
		e.Reason, e.Missing = Forbidden, r.needs
		e.Hint = "the account lacks a permission"
		to := "its ClusterRole"
		if c.as != nil {
			e.Hint = c.as.user + " lacks a permission in the cluster"
			to = "a Role or ClusterRole of theirs"
		}
		if !r.needs.Empty() {
			e.Hint += "; add this rule to " + to + ":\n" + r.needs.YAML()
		}
	case s.code == http.StatusNotFound:
		e.Reason, e.Hint = Absent, "the server does not serve this kind of object: check that its definition is installed and established"
	case s.code == http.StatusTooManyRequests:
		e.Hint = "the server is too busy: try again later, or ask it less often"
	case s.code == http.StatusGone:
		e.Hint = "the list changed too fast to be read in pages: try again"
	case s.code == http.StatusBadRequest && strings.HasPrefix(c.way.URL, "http://"):
		e.Hint = "the server does not take the request: write https:// in its url, and check that it is that of an API server"
	case s.code >= 500:
		e.Hint = "the server has a fault of its own: try again, and look at its log if it goes on"
	default:
		e.Hint = "the server does not take the request: check that its url is that of an API server"
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
		return fmt.Sprintf("the certificate is for %s: use one of these names in its url", strings.Join(namesOf(host.Certificate), ", "))
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "an authority signed the certificate that this machine does not know: give it as caFile or caData (certificate-authority-data in a kubeconfig); for a trial, skipTLSVerify believes anybody"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "the certificate has expired, or is not valid yet: renew it, and check this machine's clock"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate cannot be trusted: check caFile or caData"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "what answers there does not speak TLS: write http:// in its url if that is meant, and check the port"
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return fmt.Sprintf("the server ended the TLS handshake (%s): check its client certificate", alert.Error())
	}
	if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return "what answers there does not speak TLS: write http:// in its url if that is meant, and check the port"
	}
	return ""
}

func namesOf(cert *x509.Certificate) []string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return []string{"no host at all"}
	}
	return names
}
