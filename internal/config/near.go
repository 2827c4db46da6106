package config

import "example.dev/ingestor/internal/text"

// nearest returns the word that s is a typo of; empty if there is none.
func nearest(s string, all []string) string { return text.Nearest(s, all) }

// shorten shortens a value for a message.
func shorten(s string) string { return text.Shorten(s, 40) }
