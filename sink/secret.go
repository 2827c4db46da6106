package sink

import "example.dev/ingestor/internal/secret"

// Secret is a text that shows itself to nobody who does not ask with Reveal.
type Secret = secret.Text
