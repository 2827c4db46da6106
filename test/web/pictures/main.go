// Command pictures updates the screenshots of the README and the handbook in
// docs/pictures. It copies them from the given folder, into which the browser tests
// write them, and reduces their size. Run it at the top of the repository.
package main

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

const folder = "docs/pictures"

// shown matches a picture in a page.
var shown = regexp.MustCompile(`pictures/([a-z0-9-]+\.png)`)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("cannot copy screenshots: name the folder that the browser tests write them to")
	}
	names, err := wanted()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot create the folder for screenshots: %w", err)
	}
	for _, name := range names {
		size, err := take(filepath.Join(args[0], name), filepath.Join(folder, name))
		if err != nil {
			return fmt.Errorf("cannot copy %s: %w; did the browser tests run?", name, err)
		}
		fmt.Printf("%s: %d KB\n", filepath.Join(folder, name), (size+1023)/1024)
	}
	return nil
}

// wanted returns the sorted names of the pictures that pages show.
func wanted() ([]string, error) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, fmt.Errorf("cannot read page: %w", err)
		}
		for _, m := range shown.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// take copies a picture with a reduced palette and returns its size.
func take(from, to string) (int64, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close() //nolint:errcheck // opened for reading
	picture, err := png.Decode(in)
	if err != nil {
		return 0, err
	}
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := errors.Join(encoder.Encode(out, reduced(picture)), out.Close()); err != nil {
		return 0, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// reduced returns a picture with a palette of at most 256 colors.
func reduced(picture image.Image) image.Image {
	bounds := picture.Bounds()
	counts := map[rgb]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[rgbOf(picture.At(x, y))]++
		}
	}
	palette, index := choose(counts)
	out := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, index[rgbOf(picture.At(x, y))])
		}
	}
	return out
}
