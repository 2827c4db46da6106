package auth

import (
	"testing"

	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m) }
