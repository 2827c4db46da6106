package postgres

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// folders matches the folders of PostgreSQL's programs, one for each version.
const folders = "/usr/lib/postgresql/*/bin"

// Install installs the Debian package if PostgreSQL is missing, and reports
// that on w. Debian's own server is not set up.
func Install(w io.Writer) error {
	if os.Getenv(Off) != "" {
		return ErrOff
	}
	if _, err := Binaries(); err == nil {
		return nil
	}
	become, err := root()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "postgres: installing Debian's package postgresql, once; it takes about a minute")
	for _, line := range installation {
		args := append(slices.Clone(become), "sh", "-c", line)
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot install PostgreSQL: %w\n%s\n%s", err, out, way)
		}
	}
	_, err = Binaries()
	return err
}

// installation has the commands that install the server. The temporary file
// keeps Debian from creating a server of its own.
var installation = []string{
	"apt-get update -q",
	apt + "postgresql-common",
	"mkdir -p /etc/postgresql-common/createcluster.d && echo 'create_main_cluster = false' >" + without,
	apt + "postgresql; done=$?; rm -f " + without + "; exit $done",
}

const (
	apt     = "DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "
	without = "/etc/postgresql-common/createcluster.d/ingestor.conf"
	way     = "install it, on Debian with: apt-get install postgresql; or skip the tests that need it: " + Off + "=1"
)

// root returns the prefix of a command that needs root.
func root() ([]string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil, errors.New("cannot install PostgreSQL: apt-get is missing\n" + way)
	}
	if os.Geteuid() == 0 {
		return nil, nil
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		return nil, errors.New("cannot install PostgreSQL: it takes root, and sudo is missing\n" + way)
	}
	return []string{"sudo", "-n"}, nil
}

// Binaries returns the folder of PostgreSQL's programs, of the newest version.
func Binaries() (string, error) {
	found, _ := filepath.Glob(filepath.Join(folders, "initdb"))
	if len(found) > 0 {
		newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
		return filepath.Dir(newest), nil
	}
	// This finds PostgreSQL on systems other than Debian.
	if initdb, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(initdb), nil
	}
	return "", errors.New("cannot find PostgreSQL\n" + way)
}

// version returns the version in a path.
func version(path string) int {
	n, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return n
}

// owner is the user that the server runs as. A nil owner is the user that runs
// the test.
type owner struct{ uid, gid uint32 }

// findOwner returns a user other than root, as PostgreSQL does not run as root.
func findOwner() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &owner{uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, errors.New("cannot start PostgreSQL as root, and the users postgres and nobody do not exist")
}

// give changes the owner of files.
func (o *owner) give(paths ...string) error {
	if o == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, int(o.uid), int(o.gid)); err != nil {
			return err
		}
	}
	return nil
}

// run makes a command run as the owner.
func (o *owner) run(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if o != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: o.uid, Gid: o.gid}
	}
}
