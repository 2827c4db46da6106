package query

import (
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

// ParseOrders reads the parameter order of listings, of the form asc:field.
func ParseOrders(params []string) ([]store.Order, error) {
	var orders []store.Order
	for _, p := range params {
		direction, field, _ := strings.Cut(p, ":")
		if field == "" || direction != "asc" && direction != "desc" {
			return nil, rest.Input("Invalid order parameter \"%s\", expected \"<asc or desc>:<field name>\"", rest.Short(p))
		}
		orders = append(orders, store.Order{Field: field, Desc: direction == "desc"})
	}
	return orders, CheckOrders(orders)
}

// ParseOrderFields reads the parameter orderField of queries, of the form field,asc or
// field.
func ParseOrderFields(params []string) ([]store.Order, error) {
	var orders []store.Order
	for _, p := range params {
		field, direction, given := strings.Cut(p, ",")
		if !given {
			direction = "asc"
		}
		o, err := ParseOrder(field, direction)
		if err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	return orders, CheckOrders(orders)
}

// ParseOrder returns the order by a field, whose direction is asc or desc. The caller must
// still pass it to CheckOrders.
func ParseOrder(field, direction string) (store.Order, error) {
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

// ParseText reads a search for a term, in the fields if there are any.
func ParseText(term string, fields []string) (store.Text, error) {
	if term = strings.TrimSpace(term); term == "" {
		return store.Text{}, nil
	}
	if err := rest.CheckText("fullTextFilter", term); err != nil {
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
