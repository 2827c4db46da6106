package apiserver

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"example.dev/ingestor/test/program"
)

// module is the folder of the programs.
const module = "test/devcluster"

// Binary returns the path of the program devcluster, which is built if
// necessary. The program downloads its data files when it runs.
func Binary() (string, error) {
	return program.Program{
		Name: "devcluster", Module: module, Package: ".", Linker: kubernetes, Prepare: []string{"crds"},
		Why: "it holds a whole Kubernetes API server, which takes about five minutes the first time and seconds when only " +
			module + " has changed",
	}.Path()
}

// Kubectl returns the path of a kubectl of the same version, built and cached
// in the same way, for comparisons.
func Kubectl() (string, error) {
	return program.Program{
		Name: "kubectl", Module: module, Package: "k8s.io/kubernetes/cmd/kubectl", Linker: kubernetes,
		Why: "it takes about a minute the first time",
	}.Path()
}

// kubernetes returns the flag that sets the version of Kubernetes that the
// programs report.
func kubernetes(src string) (string, error) {
	data, err := os.ReadFile(filepath.Join(src, "go.mod"))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`\sk8s\.io/kubernetes (v\S+)`).FindSubmatch(data)
	if found == nil {
		return "", errors.New("go.mod does not name k8s.io/kubernetes")
	}
	return "-X k8s.io/component-base/version.gitVersion=" + string(found[1]), nil
}
