package tree

// Overlay merges over into under: maps are merged key by key, and any other value of
// over replaces that of under. Nil means absent, null is a value. The inputs are not
// changed; the result shares nodes with them.
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
