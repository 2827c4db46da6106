package issuer

import (
	"example.dev/ingestor/test/npm"

	_ "embed"
)

//go:embed package.json
var manifest []byte

//go:embed package-lock.json
var lock []byte

// ErrOff is returned by Install if there is no node, or none that could
// install anything.
var ErrOff = npm.ErrOff

// Install returns node and the folder of the provider's packages.
func Install() (node, modules string, err error) { return npm.Install("issuer", manifest, lock) }
