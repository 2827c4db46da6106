package query

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
)

// The limits of a request.
const (
	maxOrders     = 10
	maxTextFields = 50
	maxTerm       = 500
)

// Params parses the query string of an address. A semicolon is an ordinary character,
// as it is for the portal's clients.
func Params(raw string) (url.Values, error) {
	if raw == "" {
		return nil, nil
	}
	q, err := url.ParseQuery(strings.ReplaceAll(raw, ";", "%3B"))
	if err != nil {
		return nil, rest.Input("Malformed query string: %s", err)
	}
	return q, nil
}

// Count returns a numeric parameter, or the default if it is not given.
func Count(q url.Values, name string, byDefault int) (int, error) {
	values, given := q[name]
	if !given {
		return byDefault, nil
	}
	if len(values) != 1 || !isInteger(values[0]) {
		return 0, rest.Input("request/query/%s must be integer", name)
	}
	n, err := strconv.Atoi(values[0])
	if err != nil && !strings.HasPrefix(values[0], "-") {
		n = math.MaxInt
	}
	if n < 0 || err != nil && n == 0 {
		return 0, rest.Input("request/query/%s must be >= 0", name)
	}
	if n > math.MaxInt32 {
		return 0, rest.Input("request/query/%s must be <= %d", name, math.MaxInt32)
	}
	return n, nil
}

func isInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// One returns a parameter that may be given only once.
func One(q url.Values, name string) (value string, given bool, err error) {
	switch values := q[name]; len(values) {
	case 0:
		return "", false, nil
	case 1:
		return values[0], true, CheckText(name, values[0])
	}
	return "", true, rest.Input("request/query/%s must be string", name)
}

// Flag returns a boolean parameter; false if it is not given.
func Flag(q url.Values, name string) (bool, error) {
	v, given, err := One(q, name)
	if err != nil || !given {
		return false, err
	}
	switch strings.ToLower(v) {
	case "", "true", "1", "yes", "y", "on":
		return true, nil
	case "false", "0", "no", "n", "off":
		return false, nil
	}
	return false, rest.Input("request/query/%s must be boolean", name)
}

// Orders reads the parameter order of listings, of the form asc:field.
func Orders(params []string) ([]store.Order, error) {
	var orders []store.Order
	for _, p := range params {
		direction, field, _ := strings.Cut(p, ":")
		if field == "" || direction != "asc" && direction != "desc" {
			return nil, rest.Input("Invalid order parameter \"%s\", expected \"<asc or desc>:<field name>\"", Short(p))
		}
		orders = append(orders, store.Order{Field: field, Desc: direction == "desc"})
	}
	return orders, CheckOrders(orders)
}

// OrderFields reads the parameter orderField of queries, of the form field,asc or
// field.
func OrderFields(params []string) ([]store.Order, error) {
	var orders []store.Order
	for _, p := range params {
		field, direction, given := strings.Cut(p, ",")
		if !given {
			direction = "asc"
		}
		o, err := Order(field, direction)
		if err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	return orders, CheckOrders(orders)
}

// Order returns the order by a field, whose direction is asc or desc. The caller must
// still pass it to CheckOrders.
func Order(field, direction string) (store.Order, error) {
	if direction != "asc" && direction != "desc" {
		return store.Order{}, rest.Input("Invalid order field order, must be asc or desc")
	}
	return store.Order{Field: field, Desc: direction == "desc"}, nil
}

// CheckOrders checks the fields to sort by and normalizes them in place.
func CheckOrders(orders []store.Order) error {
	if len(orders) > maxOrders {
		return rest.Input("Invalid order, it has more than %d fields", maxOrders)
	}
	for i := range orders {
		o := &orders[i]
		if o.Field = strings.ToLower(strings.TrimSpace(o.Field)); o.Field == "" {
			return rest.Input("Invalid order, a field has no name")
		}
		if err := CheckKey("order", o.Field); err != nil {
			return err
		}
	}
	return nil
}

// List returns the items of parameters that are separated by commas.
func List(params []string) []string {
	var items []string
	for _, p := range params {
		for item := range strings.SplitSeq(p, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}

// Text reads a search for a term, in the fields if there are any.
func Text(term string, fields []string) (store.Text, error) {
	if term = strings.TrimSpace(term); term == "" {
		return store.Text{}, nil
	}
	if err := CheckText("fullTextFilter", term); err != nil {
		return store.Text{}, err
	}
	if len(term) > maxTerm {
		return store.Text{}, rest.Input("Invalid fullTextFilter, its term has more than %d bytes", maxTerm)
	}
	if len(fields) > maxTextFields {
		return store.Text{}, rest.Input("Invalid fullTextFilter, it has more than %d fields", maxTextFields)
	}
	text := store.Text{Term: strings.ToLower(term)}
	for _, f := range fields {
		if err := CheckKey("fullTextFilter", f); err != nil {
			return store.Text{}, err
		}
		text.Fields = append(text.Fields, strings.ToLower(f))
	}
	return text, nil
}
