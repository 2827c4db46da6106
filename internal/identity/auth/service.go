package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/secret"
)

// services are the callers with a static token, of which only the hash is kept.
type services []service

type service struct {
	sum    [sha256.Size]byte
	caller Caller
}

func newServices(external []config.ExternalAccess) (services, error) {
	var all services
	for i, e := range external {
		at := fmt.Sprintf("cannot use backend.auth.externalAccess[%d]", i)
		token := e.Token.Reveal()
		if want := secret.Weakness(token); want != "" {
			return nil, fmt.Errorf("%s: token is weak, want %s", at, want)
		}
		if e.Subject == "" {
			return nil, fmt.Errorf("%s: subject is missing", at)
		}
		s := service{sum: sha256.Sum256([]byte(token)), caller: Caller{Kind: Service, Subject: e.Subject}}
		for j, other := range all {
			if other.sum == s.sum {
				return nil, fmt.Errorf("%s: same token as externalAccess[%d]", at, j)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// find returns the service whose token has that hash, in constant time.
func (all services) find(sum [sha256.Size]byte) (Caller, bool) {
	found := -1
	for i := range all {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(all[i].sum[:], sum[:]), i, found)
	}
	if found < 0 {
		return Caller{}, false
	}
	return all[found].caller, true
}
