package web_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/sink/git"
)

// gitHost is the host name that the configuration gives to the repository folder.
const gitHost = "git.example.org"

// repositories creates a folder with the repository acme/live, which contains a
// resource.
func repositories(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "acme", "live")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--bare", "--initial-branch=main", dir).CombinedOutput(); err != nil {
		t.Fatalf("cannot create the repository: %v: %s", err, out)
	}
	if _, err := git.New(dir, git.Options{Branch: "main"}).Commit(t.Context(), map[string][]byte{
		"README.md": []byte("What runs.\n"),
		"clusters/live/bucket/shop/pictures.yaml": []byte("# Ask the shop team before you touch it.\napiVersion: storage.example.org/v1\nkind: Bucket\nmetadata:\n  name: pictures\n  namespace: shop\nspec:\n  region: eu-west-1\n  versioning: false\n  lifecycleDays: 30\n"),
	}); err != nil {
		t.Fatal(err)
	}
	return root
}

// flood is an action with a very long log: a hundred lines of about a hundred
// characters per message.
var flood = action.Action{
	ID: "test:flood", Description: "Logs a lot", Input: tree.Obj(tree.F("type", tree.Str("object"))),
	Run: func(ctx context.Context, c *action.Call) error {
		messages, err := strconv.Atoi(c.Input.Get("messages").Scalar())
		line := strings.Repeat("x", 92)
		for i := range messages {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var text strings.Builder
			for j := range 100 {
				text.WriteString(strconv.Itoa(i*100+j) + " " + line + "\n")
			}
			c.Logf("%s", strings.TrimSuffix(text.String(), "\n"))
		}
		return err
	},
}
