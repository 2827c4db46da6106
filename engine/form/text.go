package form

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// known maps words to a special spelling. Keys are lower case.
var known = func() map[string]string {
	m := map[string]string{}
	const acronyms = `ACL ACM ACR AKS ALB AMI API ARN ASG ASN AWS AZ BGP CA CDN CEL CI CIDR CNAME CNI CORS CPU CRD CSI CSV
		DB DHCP DNS EBS EC2 ECR ECS EFS EKS ELB EMR FQDN FTP GB GCP GCR GCS GID GKE GPU HA HCL HPA HSM HTML HTTP HTTPS IAM ID
		IGW IMDS IO IOPS IP JSON JWT KCL KMS KV LB LDAP MB MFA MSK MTU NACL NAT NFS NIC NLB NSG OCI OIDC OS OTP PDB PEM PV PVC QPS
		RAM RBAC RDS RPC RSA S3 SAML SCIM SDK SES SFTP SG SKU SLA SLO SMTP SNI SNS SQL SQS SSD SSH SSL SSM SSO STS TB TCP TGW
		TLS TTL UDP UI UID URI URL URN UUID VLAN VM VPA VPC VPN WAF XML XR XRD YAML`
	for w := range strings.FieldsSeq(acronyms) {
		m[strings.ToLower(w)] = w
		m[strings.ToLower(w)+"s"] = w + "s"
	}
	// "ios", "oss", "cas" and "has" are words themselves.
	for _, w := range []string{"ios", "oss", "cas", "has", "dbs", "cis"} {
		delete(m, w)
	}
	const brands = `PostgreSQL MySQL NoSQL GraphQL MongoDB DynamoDB DocumentDB CosmosDB MariaDB InfluxDB GitHub GitLab
		GitOps OAuth OAuth2 OpenID OpenSearch OpenTelemetry RabbitMQ IPv4 IPv6 GiB MiB TiB KiB K8s ArgoCD BigQuery
		CloudFront CloudWatch ElastiCache DevOps FinOps JavaScript TypeScript gRPC vCPU vCPUs`
	for w := range strings.FieldsSeq(brands) {
		m[strings.ToLower(w)] = w
	}
	return m
}()

// Humanise converts a key into a title without breaking acronyms: storageGB becomes
// Storage GB, dbURL becomes DB URL, PostgreSQLDatabase PostgreSQL Database.
func Humanise(key string) string {
	var room [8]string
	parts := split(room[:0], key)
	out := make([]byte, 0, 48)
	for i := 0; i < len(parts); i++ {
		if len(out) > 0 {
			out = append(out, ' ')
		}
		// A brand may have been split at its inner capitals.
		if i+1 < len(parts) {
			if w := lookup(parts[i], parts[i+1]); w != "" {
				out = append(out, w...)
				i++
				continue
			}
		}
		out = appendWord(out, parts[i])
	}
	if len(out) == 0 {
		return key
	}
	return string(out)
}

// lookup returns the special spelling of the word formed by two parts, or "".
func lookup(a, b string) string {
	// No word with a special spelling is longer.
	var room [14]byte
	if len(a)+len(b) > len(room) {
		return ""
	}
	lower := append(append(room[:0], a...), b...)
	for i, c := range lower {
		if isUpper(c) {
			lower[i] = c + 'a' - 'A'
		}
	}
	return known[string(lower)]
}

// appendWord appends one word of a title.
func appendWord(dst []byte, part string) []byte {
	if w := lookup(part, ""); w != "" {
		return append(dst, w...)
	}
	if words := acronyms(part); len(words) > 0 {
		return append(dst, strings.Join(words, " ")...)
	}
	r, size := utf8.DecodeRuneInString(part)
	if r == utf8.RuneError && size == 1 {
		return append(dst, part...)
	}
	dst = utf8.AppendRune(dst, unicode.ToUpper(r))
	return append(dst, part[size:]...)
}

// acronyms splits a run of capitals into acronyms, such as VPCID into VPC and ID; nil if
// it does not consist of known ones alone.
func acronyms(run string) []string {
	const shortest, longest = 2, 5
	if len(run) < 2*shortest || len(run) > 24 || !isUpper(run[0]) || !isUpper(run[1]) {
		return nil
	}
	for n := min(longest, len(run)-shortest); n >= shortest; n-- {
		first := lookup(run[:n], "")
		if first == "" || strings.ToUpper(first) != run[:n] {
			continue
		}
		if rest := lookup(run[n:], ""); rest != "" {
			return []string{first, rest}
		}
		if rest := acronyms(run[n:]); rest != nil {
			return append([]string{first}, rest...)
		}
	}
	return nil
}

// split splits a key at separators and at changes of case, and appends the parts to
// parts.
func split(parts []string, key string) []string {
	start := 0
	cut := func(end, next int) {
		if end > start {
			parts = append(parts, key[start:end])
		}
		start = next
	}
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case !isLetter(c) && !isDigit(c) && c < utf8.RuneSelf:
			cut(i, i+1)
		case isUpper(c) && i > start && !isUpper(key[i-1]):
			cut(i, i)
		case isUpper(c) && i > start && i+1 < len(key) && isLower(key[i+1]) && !pluralAt(key, i):
			cut(i, i)
		}
	}
	cut(len(key), len(key))
	return parts
}

// pluralAt reports whether the capital at i ends a plural acronym, like the D of
// subnetIDs.
func pluralAt(key string, i int) bool {
	return key[i+1] == 's' && (i+2 == len(key) || !isLower(key[i+2]))
}

func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// FirstSentence splits text after its first sentence and returns both parts, trimmed.
// Line breaks inside a part are kept.
func FirstSentence(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' && i+1 < len(text) && text[i+1] == '\n' {
			return text[:i], strings.TrimSpace(text[i:])
		}
		if text[i] != '.' && text[i] != '!' && text[i] != '?' {
			continue
		}
		if i+1 == len(text) {
			return text, ""
		}
		if text[i+1] != ' ' && text[i+1] != '\n' || abbreviation(text[:i+1]) {
			continue
		}
		next := strings.TrimLeft(text[i+1:], " \n")
		if r, _ := utf8.DecodeRuneInString(next); unicode.IsLower(r) {
			continue
		}
		return text[:i+1], next
	}
	return text, ""
}

// abbreviation reports whether s ends with a dot that does not end a sentence.
func abbreviation(s string) bool {
	word := strings.ToLower(strings.TrimLeft(s[strings.LastIndexAny(s, " \n")+1:], "("))
	switch word {
	case "e.g.", "i.e.", "etc.", "vs.", "approx.", "no.", "cf.", "incl.", "resp.":
		return true
	}
	return false
}
