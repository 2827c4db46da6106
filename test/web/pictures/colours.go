package main

import (
	"cmp"
	"image/color"
	"math"
	"slices"
)

// most is the maximum number of colors of a picture.
const most = 256

// rgb is an opaque color.
type rgb [3]uint8

func rgbOf(c color.Color) rgb {
	r, g, b, _ := c.RGBA()
	return rgb{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
}

// box is a set of colors that become one palette entry.
type box struct {
	colours []rgb
	// channel is the channel with the largest range, and spread is that range.
	channel, spread int
	// seen is the number of pixels with one of the colors.
	seen int
}

func boxOf(colours []rgb, counts map[rgb]int) box {
	b := box{colours: colours}
	for channel := range 3 {
		least, largest := 255, 0
		for _, c := range colours {
			least, largest = min(least, int(c[channel])), max(largest, int(c[channel]))
		}
		if largest-least > b.spread {
			b.channel, b.spread = channel, largest-least
		}
	}
	for _, c := range colours {
		b.seen += counts[c]
	}
	return b
}

// worth is the benefit of splitting the box: it grows with the range of its
// colors and with their frequency.
func (b box) worth() float64 { return float64(b.spread) * math.Sqrt(float64(b.seen)) }

// divided splits a box at the median.
func (b box) divided(counts map[rgb]int) (one, other box) {
	slices.SortFunc(b.colours, func(x, y rgb) int { return cmp.Or(cmp.Compare(x[b.channel], y[b.channel]), slices.Compare(x[:], y[:])) })
	half := len(b.colours) / 2
	return boxOf(b.colours[:half], counts), boxOf(b.colours[half:], counts)
}

// often returns the most frequent color of the box.
func (b box) often(counts map[rgb]int) rgb {
	return slices.MaxFunc(b.colours, func(x, y rgb) int {
		return cmp.Or(cmp.Compare(counts[x], counts[y]), slices.Compare(x[:], y[:]))
	})
}

// choose returns a palette for colors with these frequencies, and the palette
// entry of each color.
func choose(counts map[rgb]int) (color.Palette, map[rgb]uint8) {
	var all []rgb
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y rgb) int { return slices.Compare(x[:], y[:]) })
	boxes := []box{boxOf(all, counts)}
	for len(boxes) < most {
		widest := 0
		for i, b := range boxes {
			if b.worth() > boxes[widest].worth() {
				widest = i
			}
		}
		if boxes[widest].spread == 0 {
			break
		}
		one, other := boxes[widest].divided(counts)
		boxes[widest] = one
		boxes = append(boxes, other)
	}
	palette := make(color.Palette, len(boxes))
	index := map[rgb]uint8{}
	for i, b := range boxes {
		chosen := b.often(counts)
		palette[i] = color.RGBA{chosen[0], chosen[1], chosen[2], 255}
		for _, c := range b.colours {
			index[c] = uint8(i)
		}
	}
	return palette, index
}
