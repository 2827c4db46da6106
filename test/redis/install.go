package redis

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

// program is the name of the server program.
const program = "redis-server"

// Install installs the Debian package if Redis is missing, and reports that on
// w. Debian's own server is not started.
func Install(w io.Writer) error {
	if os.Getenv(Off) != "" {
		return ErrOff
	}
	if _, err := Binary(); err == nil {
		return nil
	}
	become, err := root()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "redis: installing Debian's package redis-server, once; it takes some seconds")
	for _, line := range installation {
		args := append(slices.Clone(become), "sh", "-c", line)
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot install Redis: %w\n%s\n%s", err, out, way)
		}
	}
	_, err = Binary()
	return err
}

// installation has the commands that install the server. Debian asks
// policy-rc.d whether to start its own server; if there is none, a temporary
// one denies it.
var installation = []string{
	"apt-get update -q",
	"if [ -e " + policy + " ]; then exec " + apt + "; fi; " +
		"printf '#!/bin/sh\\nexit 101\\n' >" + policy + " && chmod +x " + policy + " && " + apt + "; done=$?; rm -f " + policy + "; exit $done",
}

const (
	apt    = "env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends redis-server"
	policy = "/usr/sbin/policy-rc.d"
	way    = "install it, on Debian with: apt-get install redis-server; or skip the tests that need it: " + Off + "=1"
)

// root returns the prefix of a command that needs root.
func root() ([]string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil, errors.New("cannot install Redis: apt-get is missing\n" + way)
	}
	if os.Geteuid() == 0 {
		return nil, nil
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		return nil, errors.New("cannot install Redis: it takes root, and sudo is missing\n" + way)
	}
	return []string{"sudo", "-n"}, nil
}

// Binary returns the path of the server program.
func Binary() (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", errors.New("cannot find Redis\n" + way)
	}
	return path, nil
}
