package crossplane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/crossplane/v2/proto/fn/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/xrd/composed"
)

// function is a function that a test writes.
type function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
	run func(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error)
}

// RunFunction implements the protocol of functions.
func (f *function) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	return f.run(ctx, req)
}

// serve serves a function until the test ends, and returns its address.
func serve(t *testing.T, run func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error), opts ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(append(opts, grpc.MaxSendMsgSize(128<<20))...)
	fnv1.RegisterFunctionRunnerServiceServer(s, &function{run: run})
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// crashing accepts connections, and closes each after the request was sent.
func crashing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// An HTTP/2 server sends its settings first, or the client does not call.
			_, _ = c.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0})
			_, _ = c.Read(make([]byte, 1<<16))
			time.Sleep(50 * time.Millisecond)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// suicidal returns a program that kills itself, as the kernel does if memory is exhausted.
func suicidal(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crossplane")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nkill -KILL $$\n"), 0o700); err != nil { //nolint:gosec // It is run.
		t.Fatal(err)
	}
	return path
}

// composing returns a response with a ConfigMap.
func composing(t *testing.T, data map[string]any) *fnv1.RunFunctionResponse {
	t.Helper()
	s, err := structpb.NewStruct(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data})
	if err != nil {
		t.Error(err)
	}
	return &fnv1.RunFunctionResponse{Desired: &fnv1.State{Resources: map[string]*fnv1.Resource{"map": {Resource: s}}}}
}

// TestPlanBadDays plans with functions that fail in every way, and without a program.
func TestPlanBadDays(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(t, s)
	core.Define(t, crossplane.Definitions, badComposition)
	s.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shops}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: shops, labels: {use: plan}}\ndata: {color: green}\n")
	core.Register(t, "function-unhealthy", "")

	down, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = down.Close()
	rounds := 0
	fails := map[string]struct {
		reason string
		// endpoint is that of function-bad; empty means that it is not configured.
		endpoint, composition string
		options               render.Options
		want                  plan.Reason
		says                  string
		within                time.Duration
	}{
		"Hangs": {
			reason: "A function that does not answer is named.", want: plan.Function, says: "function function-bad did not answer within 2s", within: 4 * time.Second,
			endpoint: serve(t, func(ctx context.Context, _ *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}), options: render.Options{Timeout: 2 * time.Second},
		},
		"Crashes":      {reason: "A function that dies is named.", want: plan.Function, says: "function function-bad closed the connection before it answered", endpoint: crashing(t)},
		"Unreachable":  {reason: "The plan ends at once if nothing listens.", want: plan.Function, says: "cannot connect to function function-bad", endpoint: down.Addr().String(), within: 3 * time.Second},
		"NotInstalled": {reason: "The cluster has no such function.", want: plan.Function, says: "function function-bad is not installed"},
		"Unhealthy":    {reason: "The revision has no endpoint.", want: plan.Function, says: "function function-unhealthy is not healthy", composition: "unhealthy"},
		"TooMuch": {
			reason: "50 MB are refused.", want: plan.Function, says: "function function-bad answered more than Crossplane accepts",
			endpoint: serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
				return composing(t, map[string]any{"large": string(bytes.Repeat([]byte("x"), 50<<20))}), nil
			}),
		},
		"TooMuchInParts": {
			reason: "Many answers are limited together.", want: plan.Function, says: "function function-bad answered more than 16 MiB",
			endpoint: serve(t, func(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
				// Each answer asks for something else, so that the function is called again.
				rounds++
				out := composing(t, map[string]any{"large": string(bytes.Repeat([]byte("x"), 3<<20))})
				name := fmt.Sprintf("other-%d", rounds)
				out.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{"next": {ApiVersion: "v1", Kind: "ConfigMap", Namespace: &name, Match: &fnv1.ResourceSelector_MatchName{MatchName: name}}}}
				return out, nil
			}),
		},
		"Memory": {
			reason: "The memory of the process is limited.", want: plan.Failed, says: "rendering needs more than 96 MiB of memory", options: render.Options{Memory: 96 << 20},
			endpoint: serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
				many := map[string]any{}
				for i := range 60_000 {
					many[fmt.Sprintf("key-%d", i)] = strings.Repeat("v", 40)
				}
				return composing(t, many), nil
			}),
		},
		"Words": {
			reason: "What a function says is not taken for a cause.", want: plan.Failed, says: "usage: 5 of 5, out of memory",
			endpoint: serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
				return nil, errors.New("unknown command, quota usage: 5 of 5, out of memory")
			}),
		},
		"Killed":        {reason: "A process that the kernel kills is not another program.", want: plan.Failed, says: "was killed, probably because the machine has too little memory", options: render.Options{Program: suicidal(t)}, endpoint: crashing(t)},
		"NoComposition": {reason: "The Composition does not exist.", want: plan.NoComposition, says: "cannot find Composition none", composition: "none"},
		"NoProgram":     {reason: "The program does not exist.", want: plan.Program, says: "cannot start", options: render.Options{Program: filepath.Join(t.TempDir(), "crossplane")}, endpoint: crashing(t)},
		"OtherProgram":  {reason: "The program is another one.", want: plan.Program, says: "cannot", options: render.Options{Program: "/bin/cat"}, endpoint: crashing(t)},
		"Silent":        {reason: "The program does nothing.", want: plan.Program, says: "cannot read the response", options: render.Options{Program: "/bin/true"}, endpoint: crashing(t)},
	}
	for name, tc := range fails {
		t.Run(name, func(t *testing.T) {
			var functions []plan.Endpoint
			if tc.endpoint != "" {
				functions = append(functions, plan.Endpoint{Name: "function-bad", Address: tc.endpoint})
			}
			p := newPlanned(t, s, core, tc.options, functions...)
			began := time.Now()
			_, err := p.plan(t.Context(), badSite(tc.composition))
			e, ok := errors.AsType[*plan.Error](err)
			if !ok || e.Reason != tc.want || !strings.Contains(e.Error(), tc.says) || e.Hint+e.Operator == "" {
				t.Errorf("%s: error is %v (%+v), want %s: %s, with a hint", tc.reason, err, e, tc.want, tc.says)
			}
			if took := time.Since(began); tc.within > 0 && took > tc.within {
				t.Errorf("%s: it took %v, want at most %v", tc.reason, took, tc.within)
			}
		})
	}
	t.Run("TLS", func(t *testing.T) { planTLS(t, s, core) })
	t.Run("SlowReads", func(t *testing.T) { planSlowly(t, s, core) })
	t.Run("Denied", func(t *testing.T) { planDenied(t, s, core) })
	t.Run("Foreign", func(t *testing.T) { planForeign(t, s, core) })
	t.Run("Required", func(t *testing.T) { planRequired(t, s, core) })
	t.Run("Results", func(t *testing.T) { planResults(t, s, core) })
}

// planSlowly plans with a function that answers at once, in a cluster that does not: the
// function is not the cause.
func planSlowly(t *testing.T, s *apiserver.Server, core *crossplane.Core) {
	namespace := "shops"
	p := newPlanned(t, s, core, render.Options{Timeout: 2 * time.Second}, plan.Endpoint{Name: "function-bad", Address: serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		out := composing(t, nil)
		out.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{"slow": {ApiVersion: "v1", Kind: "ConfigMap", Namespace: &namespace, Match: &fnv1.ResourceSelector_MatchName{MatchName: "slow"}}}}
		return out, nil
	})})
	p.authorize = func(ctx context.Context, _ composed.Ref) error {
		<-ctx.Done()
		return ctx.Err()
	}
	_, err := p.plan(t.Context(), badSite(""))
	e, ok := errors.AsType[*plan.Error](err)
	if !ok || e.Reason != plan.Failed || !strings.Contains(e.Error(), "the plan took longer than 2s") {
		t.Errorf("slow reads return %v (%+v)", err, e)
	}
}

// planRequired plans with a function that asks for objects: by labels, by a name that does
// not exist, and a Secret.
func planRequired(t *testing.T, s *apiserver.Server, core *crossplane.Core) {
	namespace := "shops"
	by := func(kind, name string) *fnv1.ResourceSelector {
		return &fnv1.ResourceSelector{ApiVersion: "v1", Kind: kind, Namespace: &namespace, Match: &fnv1.ResourceSelector_MatchName{MatchName: name}}
	}
	p := newPlanned(t, s, core, render.Options{}, plan.Endpoint{Name: "function-bad", Address: serve(t, func(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		color := "none"
		if found := req.GetRequiredResources()["extra"].GetItems(); len(found) == 1 {
			color = found[0].GetResource().AsMap()["data"].(map[string]any)["color"].(string)
		}
		out := composing(t, map[string]any{"color": color})
		out.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{
			"extra": {ApiVersion: "v1", Kind: "ConfigMap", Namespace: &namespace, Match: &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: map[string]string{"use": "plan"}}}},
			"none":  by("ConfigMap", "missing"), "secret": by("Secret", "any"),
		}}
		return out, nil
	})})
	got, err := p.plan(t.Context(), badSite(""))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Objects) != 1 || got.Objects[0].Manifest.Get("data", "color").Str() != "green" {
		t.Errorf("objects are %v, want the color of the required object", summary(got))
	}
	unknown := fmt.Sprint(got.Unknown)
	for _, want := range []string{"required ConfigMap missing", "required Secret any"} {
		if !strings.Contains(unknown, want) {
			t.Errorf("unknown is %s, want %s", unknown, want)
		}
	}
}

// planResults plans with functions that warn, and that end the pipeline.
func planResults(t *testing.T, s *apiserver.Server, core *crossplane.Core) {
	severity := fnv1.Severity_SEVERITY_WARNING
	p := newPlanned(t, s, core, render.Options{Memory: 256 << 20}, plan.Endpoint{Name: "function-bad", Address: serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		out := composing(t, nil)
		out.Results = []*fnv1.Result{{Severity: severity, Message: "beware of the dog"}}
		return out, nil
	})})
	got, err := p.plan(t.Context(), badSite(""))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != 1 || !got.Results[0].Warning || !strings.Contains(got.Results[0].Message, "beware of the dog") || got.Fatal != "" || got.Counts.Create != 1 {
		t.Errorf("plan is %+v, want a warning and an object", got)
	}
	severity = fnv1.Severity_SEVERITY_FATAL
	if got, err = p.plan(t.Context(), badSite("")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Fatal, "beware of the dog") || len(got.Objects) > 0 {
		t.Errorf("plan is %+v, want a fatal result and no object", got)
	}
}

// badSite returns a Website with a Composition; empty means that of function-bad.
func badSite(composition string) string {
	if composition == "" {
		composition = "bad"
	}
	return strings.Replace(site(composition), "name: docs", "name: bad", 1)
}

const badComposition = `---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: bad}
spec:
  compositeTypeRef: {apiVersion: shops.example.org/v1, kind: Website}
  mode: Pipeline
  pipeline: [{step: compose, functionRef: {name: function-bad}}]
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: unhealthy}
spec:
  compositeTypeRef: {apiVersion: shops.example.org/v1, kind: Website}
  mode: Pipeline
  pipeline: [{step: compose, functionRef: {name: function-unhealthy}}]
`
