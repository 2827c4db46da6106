package listing

import (
	"context"
	"errors"
	"fmt"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// bodies reads the full bodies of the wanted objects and passes them to put, a page at
// a time.
func (s *Reader) bodies(ctx context.Context, l List, want *listDiff, all int,
	see func(*tree.Node) (mirror.Object, bool, error), put func([]mirror.Object) error) error {
	hand := func(nodes []*tree.Node) error {
		page := make([]mirror.Object, 0, len(nodes))
		for _, n := range nodes {
			o, ok, err := see(n)
			if err != nil {
				return err
			}
			if ok {
				page = append(page, o)
			}
		}
		if len(page) == 0 {
			return nil
		}
		return put(page)
	}
	if len(want.want) > 2*whole && len(want.want)*whole > all {
		return s.listed(ctx, l, hand)
	}
	err := s.fetched(ctx, l, want, hand)
	if e, ok := errors.AsType[*cluster.Error](err); ok && e.Reason == cluster.Forbidden {
		// An account that may list objects may lack the permission to get them.
		return s.listed(ctx, l, hand)
	}
	return err
}

// listed reads all objects of a list with list requests.
func (s *Reader) listed(ctx context.Context, l List, hand func([]*tree.Node) error) error {
	for _, labels := range l.Labels {
		if _, err := s.Cluster.Each(ctx, l.Resource, labels, func(items []*tree.Node, unreadable []finding.Finding) error {
			s.Note(l.Name, unreadable)
			return hand(items)
		}); err != nil {
			return err
		}
	}
	return nil
}

// fetched reads the wanted objects of a list one by one.
func (s *Reader) fetched(ctx context.Context, l List, want *listDiff, hand func([]*tree.Node) error) error {
	names := make([]cluster.NamespacedName, 0, min(len(want.want), scan.PageSize))
	fetch := func() error {
		// Objects deleted in the meantime are reported by the next list or by the watch.
		items, _, err := s.Cluster.Fetch(ctx, l.Resource, names)
		if err := s.unreadable(l.Name, err); err != nil {
			return err
		}
		names = names[:0]
		return hand(items)
	}
	for _, item := range want.want {
		names = append(names, cluster.NamespacedName{Namespace: item.Namespace, Name: item.Name})
		if len(names) == scan.PageSize {
			if err := fetch(); err != nil {
				return err
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fetch()
}

// unreadable turns errors about single unreadable objects into findings, so that the
// other objects are still stored and the mirror keeps the last good copy. It returns
// the other errors.
func (s *Reader) unreadable(list string, err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var rest []error
	for _, err := range joined.Unwrap() {
		e, ok := errors.AsType[*cluster.Error](err)
		if !ok || e.Reason != cluster.Unreadable {
			rest = append(rest, err)
			continue
		}
		s.Note(list, []finding.Finding{{Rule: xrd.RuleSyntax, Severity: finding.Error, Object: e.Doing, Message: e.Error(), Hint: e.Hint}})
	}
	return errors.Join(rest...)
}

// convert calls Object and recovers from a panic, which costs one object and not the
// process.
func (l *List) convert(n *tree.Node) (o mirror.Object, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot process object: %v", p)
		}
	}()
	return l.Object(n), nil
}
