package issuer

import (
	"example.dev/ingestor/test/npm"

	_ "embed"
)

//go:embed package.json
var manifest []byte

//go:embed package-lock.json
var lock []byte

// ErrOff is returned by Install if node or npm is missing.
var ErrOff = npm.ErrOff

// Install returns the path of node and the folder of the provider's packages.
func Install() (node, modules string, err error) { return npm.Install("issuer", manifest, lock) }
