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

// DiesWithParent checks that a server ends when the process that started it is
// killed. It runs the calling test again as a child process, which starts the
// server and is killed. start returns the address of the server and the folder
// that it leaves behind.
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
			t.Fatalf("output of the child process is %q: %v", said, err)
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
			t.Fatal("server still runs a minute after its parent process was killed")
		}
	}
}
