package process

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// DiesWithParent wants a server to end when whoever started it is killed. It
// runs the test that calls it once more, as a process that starts the server
// and is killed. start returns the address the server listens at, and the
// folder that it leaves behind.
func DiesWithParent(t *testing.T, start func() (address, dir string)) {
	t.Helper()
	const child, mark = "INGESTOR_TEST_CHILD", "the server listens at"
	if os.Getenv(child) != "" {
		address, dir := start()
		fmt.Printf("\n%s %s %s\n", mark, address, dir)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said string
	for lines := bufio.NewReader(stdout); !strings.HasPrefix(said, mark); {
		if said, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("the child said %q: %v", said, err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	fields := strings.Fields(strings.TrimPrefix(said, mark))
	defer func() { _ = os.RemoveAll(fields[1]) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", fields[0])
		if err != nil {
			return
		}
		_ = c.Close()
		if time.Now().After(deadline) {
			t.Fatal("the server runs a minute after whoever started it was killed")
		}
	}
}
