package jobs

import (
	"context"
	"slices"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// postgresDriver is River's driver with an executor of its own.
type postgresDriver struct{ *riverpgxv5.Driver }

func (d postgresDriver) GetExecutor() riverdriver.Executor {
	return postgresExecutor{d.Driver.GetExecutor()}
}

type postgresExecutor struct{ riverdriver.Executor }

// JobSetStateIfRunningMany stores the results of jobs, and returns the jobs. It leaves
// out those that still run: another replica took the job over while this one waited for
// the row, and PostgreSQL returns the row as it was before. River 0.47 would panic; later
// versions skip such rows themselves.
func (e postgresExecutor) JobSetStateIfRunningMany(ctx context.Context, p *riverdriver.JobSetStateIfRunningManyParams) ([]*rivertype.JobRow, error) {
	rows, err := e.Executor.JobSetStateIfRunningMany(ctx, p)
	return slices.DeleteFunc(rows, func(row *rivertype.JobRow) bool { return row.State == rivertype.JobStateRunning }), err
}
