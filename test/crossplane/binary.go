package crossplane

import "example.dev/ingestor/test/program"

// module is the folder of the programs.
const module = "test/crossplane/core"

// binary returns the path of the program of the core, which is built if
// necessary.
func binary() (string, error) {
	return program.Program{
		Name: "crossplane", Module: module, Package: ".",
		Why: "it is the whole core of Crossplane, which takes about four minutes the first time",
	}.Path()
}

// functionBinary returns the path of the program of the function.
func functionBinary() (string, error) {
	return program.Program{
		Name: Function, Module: module, Package: "github.com/crossplane-contrib/" + Function,
		Why: "the function of the compositions of tests takes about two minutes the first time",
	}.Path()
}

// readyBinary returns the path of the program of the function auto-ready. Its module is a
// separate one, because it needs earlier versions of what the core needs.
func readyBinary() (string, error) {
	return program.Program{
		Name: Ready, Module: "test/crossplane/ready", Package: "github.com/crossplane/" + Ready,
		Why: "the second function of the compositions of tests takes about two minutes the first time",
	}.Path()
}

// Build builds the programs, unless that was done before.
func Build() error {
	if off() {
		return ErrOff
	}
	if _, err := binary(); err != nil {
		return err
	}
	if _, err := functionBinary(); err != nil {
		return err
	}
	_, err := readyBinary()
	return err
}

// Program returns the path of the program of the core, which also renders composites.
func (c *Core) Program() (string, error) { return binary() }
