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

// place is where an entity was read from. The name is an index into the names of
// the Spool, of which the first is empty.
type place struct {
	name uint32
	pos  tree.Pos
}

// placeSize is the number of bytes of a place in the file.
const placeSize = 12

// places stores where the entities were read from, in a file, because it is needed
// only for error messages.
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

// get returns a place, the zero place if the file cannot be read any more.
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
	// block is the number of hashes per allocation.
	block = 1 << 12
	// parts is the number of passes over the hashes to find duplicates, so that the
	// table holds only a part of them at a time.
	parts = 16
)

// seen holds the hashes of the references. Among a million references, two have
// the same hash once in thirty million runs.
type seen struct {
	seed   maphash.Seed
	blocks [][]uint64
	// compared is the number of lines that were compared.
	compared int
}

func newSeen() seen { return seen{seed: maphash.MakeSeed()} }

// add records the reference of a line, the first being 0. A line without a
// reference has the hash 0.
func (s *seen) add(line int, ref string) {
	for len(s.blocks) <= line/block {
		s.blocks = append(s.blocks, make([]uint64, block))
	}
	s.blocks[line/block][line%block] = maphash.String(s.seed, ref)
}

// again calls yield for each line, starting at from, whose reference occurred
// before, with the first line of that reference.
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

// compare finds duplicate entities.
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
			Message: fmt.Sprintf("duplicate %s, first at %s", ref, s.Where(twice[line]+1)),
			Hint:    "remove one of the two, or choose another name or namespace",
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
	// Report duplicates that cannot be read any more too.
	for line := range twice {
		if line > last {
			tell(line, "an entity")
		}
	}
}
