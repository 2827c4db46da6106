// Command pictures puts the pictures that the README and the handbook show into
// docs/pictures. It takes them from those that the journeys through the portal
// took, out of the folder it is given, and makes them small. It runs at the top
// of the repository.
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

// shown is how a page shows a picture.
var shown = regexp.MustCompile(`pictures/([a-z0-9-]+\.png)`)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("cannot take pictures: name the folder that the journeys put them into")
	}
	names, err := wanted()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make a folder for the pictures: %w", err)
	}
	for _, name := range names {
		size, err := take(filepath.Join(args[0], name), filepath.Join(folder, name))
		if err != nil {
			return fmt.Errorf("cannot take %s: %w; did the journeys run?", name, err)
		}
		fmt.Printf("%s: %d KB\n", filepath.Join(folder, name), (size+1023)/1024)
	}
	return nil
}

// wanted returns the names of the pictures that pages show, sorted.
func wanted() ([]string, error) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, fmt.Errorf("cannot read what is shown: %w", err)
		}
		for _, m := range shown.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// take copies a picture, with few colours, and returns how large it has become.
func take(from, to string) (int64, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close() //nolint:errcheck // nothing is lost
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

// reduced returns a picture with no more colours than a byte can name.
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
