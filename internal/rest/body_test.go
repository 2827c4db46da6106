package rest

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
)

// form is a body with fields of several types.
type form struct {
	Type   string `json:"type"`
	Limit  int    `json:"limit"`
	Nested struct {
		List []string `json:"list"`
		On   *bool    `json:"on"`
	} `json:"nested"`
}

func TestReadJSON(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   string
	}{
		"Fine":     {"A valid body is accepted.", `{"type":"x","limit":3,"nested":{"list":["a"],"on":true}}`, ""},
		"Unknown":  {"Unknown fields are ignored.", `{"other":1}`, ""},
		"Empty":    {"An empty body is not JSON.", "", "request/body is empty; it must be JSON"},
		"Blank":    {"White space is not JSON.", " \n", "request/body is empty; it must be JSON"},
		"Open":     {"An unexpected end has its position.", "{", "Unexpected end in JSON at position 1 (line 1 column 2)"},
		"Line":     {"A position has its line.", "{\n  \"type\": x}", "Invalid character 'x' looking for beginning of value in JSON at position 12 (line 2 column 11)"},
		"Behind":   {"A second value is refused.", `{} {}`, "Invalid character '{' after top-level value in JSON at position 3 (line 1 column 4)"},
		"List":     {"A list is not an object.", `[]`, "request/body must be object, and not array"},
		"Text":     {"A string is not an object.", `"x"`, "request/body must be object, and not string"},
		"Field":    {"A field of the wrong type is named.", `{"type":1}`, "request/body/type must be string, and not number"},
		"Integer":  {"A fraction is not an integer.", `{"limit":1.5}`, "request/body/limit must be integer, and not number 1.5"},
		"Huge":     {"A number out of range is not an integer.", `{"limit":1e99}`, "request/body/limit must be integer, and not number 1e99"},
		"Deep":     {"A nested field has its path.", `{"nested":{"list":{}}}`, "request/body/nested/list must be array, and not object"},
		"Item":     {"A list item has its path.", `{"nested":{"list":[true]}}`, "request/body/nested/list must be string, and not bool"},
		"Pointer":  {"An optional field has a type.", `{"nested":{"on":"yes"}}`, "request/body/nested/on must be boolean, and not string"},
		"HTML":     {"HTML is not JSON.", "<html>", "Invalid character '<' looking for beginning of value in JSON at position 0 (line 1 column 1)"},
		"VeryDeep": {"The depth is limited.", strings.Repeat("[", 20000), "Invalid character '[' exceeded max depth in JSON at position 10000 (line 1 column 10001)"},
		"ByteMark": {"A byte order mark is not white space.", "\ufeff{}", "Invalid character 'ï' looking for beginning of value in JSON at position 0 (line 1 column 1)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var v form
			err := ReadJSON(httptest.NewRequest("POST", "/", strings.NewReader(tc.body)), &v)
			got := ""
			if err != nil {
				got = err.Error()
				if f, ok := errors.AsType[*Fault](err); !ok || f.Status != 400 {
					t.Errorf("%s: error is %#v", tc.reason, err)
				}
			}
			if got != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add("{\n\"type\":}")
	f.Add(`{"nested":{"list":[1]}}`)
	f.Fuzz(func(t *testing.T, s string) {
		var v form
		err := DecodeJSON([]byte(s), &v)
		if fault, ok := errors.AsType[*Fault](err); err != nil && (!ok || fault.Status != 400) {
			t.Errorf("body %q returned %v", s, err)
		}
	})
}
