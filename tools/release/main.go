// Command release builds what users install: the container image and the archives and
// packages of the programs. Two runs on one commit write the same bytes.
//
//	go run . image -out DIR
//	go run . archives -version v1.2.3 -out DIR
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

const usage = `usage:
  release image     [-root DIR] [-version vX.Y.Z] [-platforms LIST] -out DIR   write the image as an OCI layout
  release archives  [-root DIR] [-version vX.Y.Z] [-platforms LIST] -out DIR   write archives, packages, SBOMs and checksums`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("cannot run without a command\n%s", usage)
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	root := f.String("root", "../..", "the checkout")
	version := f.String("version", "", "the version, v1.2.3; without it the tag of the commit")
	out := f.String("out", "", "the folder to write")
	list := f.String("platforms", "", "platforms, like linux/amd64,linux/arm64")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("cannot run %s without -out\n%s", args[0], usage)
	}
	r, err := read(ctx, *root, *version)
	if err != nil {
		return err
	}
	if *version != "" {
		if err := isClean(ctx, r); err != nil {
			return err
		}
	}
	switch args[0] {
	case "image":
		ps, err := platforms(cmp.Or(*list, "linux/amd64,linux/arm64"))
		if err != nil {
			return err
		}
		digest, err := writeImage(ctx, r, ps, *out)
		if err != nil {
			return err
		}
		fmt.Printf("%s:%s@%s in %s\n", r.Image, r.plain(), digest, *out)
		return nil
	case "archives":
		ps, err := platforms(cmp.Or(*list, "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"))
		if err != nil {
			return err
		}
		return writeArchives(ctx, r, ps, *out)
	default:
		return fmt.Errorf("cannot run %q\n%s", args[0], usage)
	}
}
