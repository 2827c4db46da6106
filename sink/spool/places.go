package spool

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"os"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
)

// place is where an entity was written. The first of the names is no name.
type place struct {
	name uint32
	pos  tree.Pos
}

// placeSize is how many bytes a place takes in a file.
const placeSize = 12

// places are where the entities were written, in a file: they are asked for
// only when something is wrong.
type places struct {
	file *os.File
	out  *bufio.Writer
}

func newPlaces() (*places, error) {
	f, err := temporary()
	if err != nil {
		return nil, err
	}
	return &places{f, bufio.NewWriterSize(f, 16<<10)}, nil
}

func (p *places) add(at place) error {
	var b [placeSize]byte
	binary.LittleEndian.PutUint32(b[:], at.name)
	binary.LittleEndian.PutUint32(b[4:], uint32(at.pos.Line))
	binary.LittleEndian.PutUint32(b[8:], uint32(at.pos.Column))
	if _, err := p.out.Write(b[:]); err != nil {
		return fmt.Errorf("cannot write to a temporary file: %w", err)
	}
	return nil
}

// get returns a place; that of a file that cannot be read any more is unknown.
func (p *places) get(i int) place {
	var b [placeSize]byte
	if p.out.Flush() != nil {
		return place{}
	}
	if _, err := p.file.ReadAt(b[:], int64(i)*placeSize); err != nil {
		return place{}
	}
	return place{binary.LittleEndian.Uint32(b[:]), tree.Pos{
		Line: int32(binary.LittleEndian.Uint32(b[4:])), Column: int32(binary.LittleEndian.Uint32(b[8:])),
	}}
}

const (
	// block is how many hashes are held together.
	block = 1 << 12
	// parts are how many times the hashes are looked through for equal ones,
	// so that a part of them needs a table, and not all.
	parts = 16
)

// seen are the references there were, as hashes. Two of a million have the same
// hash once in thirty million runs.
type seen struct {
	seed   maphash.Seed
	blocks [][]uint64
	// compared is how many were looked at.
	compared int
}

func newSeen() seen { return seen{seed: maphash.MakeSeed()} }

// add notes the reference of a line, the first being 0. A line without one has
// the hash 0.
func (s *seen) add(line int, ref string) {
	for len(s.blocks) <= line/block {
		s.blocks = append(s.blocks, make([]uint64, block))
	}
	s.blocks[line/block][line%block] = maphash.String(s.seed, ref)
}

// again calls yield for each of the lines whose reference was there before,
// with the first of those, for lines from on.
func (s *seen) again(lines, from int, yield func(line, first int)) {
	for part := range uint64(parts) {
		table := make(map[uint64]int, lines/parts)
		for line := range lines {
			if line/block >= len(s.blocks) {
				break
			}
			h := s.blocks[line/block][line%block]
			if h == 0 || h%parts != part {
				continue
			}
			first, ok := table[h]
			if !ok {
				table[h] = line
				continue
			}
			if line >= from {
				yield(line, first)
			}
		}
	}
}

// compare looks for entities that are there twice.
func (s *Spool) compare() {
	from := s.seen.compared
	if from == s.lines {
		return
	}
	s.seen.compared = s.lines
	twice := map[int]int{}
	s.seen.again(s.lines, from, func(line, first int) {
		if len(twice) < MaxFindings {
			twice[line] = first
			return
		}
		s.unkept[finding.Error]++
	})
	if len(twice) == 0 {
		return
	}
	tell := func(line int, ref string) {
		name, pos := s.At(line + 1)
		s.found(finding.Finding{
			Rule: entity.RuleDuplicate, Severity: finding.Error, Object: ref, File: name, Pos: pos, Path: "metadata.name",
			Message: fmt.Sprintf("%s is there twice, first at %s", ref, s.Where(twice[line]+1)),
			Hint:    "remove one of the two, or give it another name or namespace",
		})
	}
	last := -1
	err := s.each(func(line int, n *tree.Node) bool {
		if _, ok := twice[line]; ok {
			tell(line, entity.RefOf(n).String())
		}
		last = line
		return true
	})
	if err == nil {
		return
	}
	// What cannot be read any more is there twice all the same.
	for line := range twice {
		if line > last {
			tell(line, "an entity")
		}
	}
}
