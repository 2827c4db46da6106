// Command prepare installs the Redis that tests start, unless there is one.
package main

import (
	"errors"
	"fmt"
	"os"

	"example.dev/ingestor/test/redis"
)

func main() {
	err := redis.Install(os.Stderr)
	if errors.Is(err, redis.ErrOff) {
		fmt.Fprintln(os.Stderr, "redis:", err, "and tests that need it are skipped")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}
