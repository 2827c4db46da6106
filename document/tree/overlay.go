package tree

// Overlay returns under with over laid on it: maps are merged key by key, and of
// anything else over's is taken. Nil is nothing, and null a value. Neither is
// changed, and what the result takes of them is shared.
func Overlay(under, over *Node) *Node {
	switch {
	case over == nil:
		return under
	case !under.IsMap() || !over.IsMap():
		return over
	}
	out := Obj()
	for _, f := range under.Fields {
		if o := over.Field(f.Key); o != nil {
			f.Value = Overlay(f.Value, o.Value)
		}
		out.Fields = append(out.Fields, f)
	}
	for _, f := range over.Fields {
		if !under.Has(f.Key) {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}
