package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/sink/portal"
)

// tasksPath is the path of the tasks in the API of Backstage.
const tasksPath = "/api/scaffolder/v2/tasks"

const readTasks = "read the tasks of"

// maxTasks is the maximum number of tasks that are read.
const maxTasks = 1_000_000

// Task is a task that a Backstage ran. It has neither parameters nor steps, because they
// may contain secrets.
type Task struct {
	ID       string     `json:"id"`
	Template string     `json:"template,omitempty"`
	User     string     `json:"user,omitempty"`
	Status   string     `json:"status"`
	Created  string     `json:"createdAt,omitempty"`
	Active   string     `json:"lastHeartbeatAt,omitempty"`
	Links    []TaskLink `json:"links,omitempty"`
}

// TaskLink is a link of a task's output: to a page, without its query, or to an entity.
type TaskLink struct {
	Title     string `json:"title,omitempty"`
	URL       string `json:"url,omitempty"`
	EntityRef string `json:"entityRef,omitempty"`
}

// taskList is a page of tasks as Backstage returns it.
type taskList struct {
	Tasks []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Spec   struct {
			User struct {
				Ref string `json:"ref"`
			} `json:"user"`
			TemplateInfo struct {
				EntityRef string `json:"entityRef"`
			} `json:"templateInfo"`
		} `json:"spec"`
		CreatedBy       string `json:"createdBy"`
		CreatedAt       string `json:"createdAt"`
		LastHeartbeatAt string `json:"lastHeartbeatAt"`
	} `json:"tasks"`
	// TotalTasks is missing in old versions, which return all tasks at once.
	TotalTasks int `json:"totalTasks"`
}

// CountTasks returns how many tasks a Backstage has.
func CountTasks(ctx context.Context, from *portal.Portal) (int, error) {
	var list taskList
	err := get(ctx, from, readTasks, tasksPath, url.Values{"limit": {"1"}}, &list)
	return max(list.TotalTasks, len(list.Tasks)), err
}

// WriteTasks writes the tasks of a Backstage as JSON, one per line, and returns their
// number.
func WriteTasks(ctx context.Context, from *portal.Portal, w io.Writer, progress func(done, all int)) (int, error) {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	// Tasks that begin meanwhile shift the pages, so that a task may be on two of them.
	seen := map[string]bool{}
	for offset := 0; ; {
		var list taskList
		query := url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(offset)}}
		if err := get(ctx, from, readTasks, tasksPath, query, &list); err != nil {
			return len(seen), err
		}
		before := len(seen)
		for _, t := range list.Tasks {
			if seen[t.ID] {
				continue
			}
			seen[t.ID] = true
			task := Task{ID: t.ID, Template: t.Spec.TemplateInfo.EntityRef, User: t.CreatedBy, Status: t.Status, Created: t.CreatedAt, Active: t.LastHeartbeatAt}
			if task.User == "" {
				task.User = t.Spec.User.Ref
			}
			// Only these have an output.
			if t.Status == "completed" {
				links, err := linksOf(ctx, from, t.ID)
				if err != nil {
					return len(seen), err
				}
				task.Links = links
			}
			if err := out.Encode(task); err != nil {
				return len(seen), fmt.Errorf("cannot write tasks: %w", err)
			}
			progress(len(seen), list.TotalTasks)
		}
		offset += len(list.Tasks)
		switch {
		case len(seen) > maxTasks:
			return len(seen), fmt.Errorf("cannot %s %s: there are more than %d", readTasks, from.URL(), maxTasks)
		case offset >= list.TotalTasks:
			return len(seen), nil
		case len(seen) == before:
			return len(seen), fmt.Errorf("cannot %s %s: the list is not complete: %d of %d tasks", readTasks, from.URL(), len(seen), list.TotalTasks)
		}
	}
}

// linksOf returns the links of a task's output, which its last event has.
func linksOf(ctx context.Context, from *portal.Portal, id string) ([]TaskLink, error) {
	var events []struct {
		Body struct {
			Output struct {
				Links []TaskLink `json:"links"`
			} `json:"output"`
		} `json:"body"`
	}
	if err := get(ctx, from, readTasks, tasksPath+"/"+url.PathEscape(id)+"/events", nil, &events); err != nil {
		return nil, err
	}
	var links []TaskLink
	for _, e := range events {
		for _, l := range e.Body.Output.Links {
			if l = l.public(); l.URL != "" || l.EntityRef != "" {
				links = append(links, l)
			}
		}
	}
	return links, nil
}

// public returns the link without what may be secret: a data URL contains the manifest
// that was made of the parameters, and a query may contain a token.
func (l TaskLink) public() TaskLink {
	u, err := url.Parse(l.URL)
	if err != nil || !strings.HasPrefix(u.Scheme, "http") {
		return TaskLink{Title: l.Title, EntityRef: l.EntityRef}
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	l.URL = u.String()
	return l
}
