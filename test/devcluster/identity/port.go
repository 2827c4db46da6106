package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
)

// A port is chosen below the range of ephemeral ports, so that no other process
// gets it by chance while the cluster restarts.
const (
	firstPort = 20000
	lastPort  = 32000
	attempts  = 100
)

// listen listens on the requested port, or the one in the file, or a free one,
// and saves it in the file.
func listen(file string, port int) (net.Listener, error) {
	kept, err := readPort(file)
	if err != nil {
		return nil, err
	}
	if port == 0 {
		port = kept
	}
	l, err := listenOn(port)
	if err != nil {
		return nil, err
	}
	port = l.Addr().(*net.TCPAddr).Port
	if port == kept {
		return l, nil
	}
	if err := replace(file, fmt.Appendln(nil, port)); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("cannot save the port: %w", err)
	}
	return l, nil
}

// readPort returns the port saved in the file, zero if there is none.
func readPort(file string) (int, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the port: %w", err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 16)
	if err != nil {
		return 0, fmt.Errorf("cannot read the port in %s: %w; remove the file to choose another", file, err)
	}
	return int(port), nil
}

// listenOn listens on a port, any free one if it is zero.
func listenOn(port int) (net.Listener, error) {
	if port != 0 {
		l, err := net.Listen("tcp4", address(port))
		if err != nil {
			return nil, fmt.Errorf("cannot use port %d: %w; stop the process that listens on it, or choose another with --port", port, err)
		}
		return l, nil
	}
	var err error
	for range attempts {
		var l net.Listener
		if l, err = net.Listen("tcp4", address(firstPort+rand.IntN(lastPort-firstPort))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("cannot find a free port: %w", err)
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
