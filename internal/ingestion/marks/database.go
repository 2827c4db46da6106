package marks

import "context"

// Database stores marks in tables. Its methods are those of Marks and may be called
// concurrently. Their errors name the failed operation.
type Database interface {
	LoadMarks(ctx context.Context, source string) (map[string]string, error)
	SaveMarks(ctx context.Context, source string, set map[string]string, drop []string) error
	ForgetMarks(ctx context.Context, keep []string) error
}

// database implements Marks with a Database.
type database struct{ db Database }

// NewDatabase returns Marks that are stored in db.
func NewDatabase(db Database) Marks { return database{db} }

// Load implements Marks.
func (d database) Load(ctx context.Context, source string) (map[string]string, error) {
	marks, err := d.db.LoadMarks(ctx, source)
	if marks == nil && err == nil {
		marks = map[string]string{}
	}
	return marks, err
}

// Save implements Marks.
func (d database) Save(ctx context.Context, source string, set map[string]string, drop []string) error {
	if len(set) == 0 && len(drop) == 0 {
		return nil
	}
	return d.db.SaveMarks(ctx, source, set, drop)
}

// Forget implements Marks.
func (d database) Forget(ctx context.Context, keep []string) error {
	return d.db.ForgetMarks(ctx, keep)
}
