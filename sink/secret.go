package sink

import "example.dev/ingestor/internal/secret"

// Secret is text that only Reveal returns; it is redacted everywhere else.
type Secret = secret.Text
