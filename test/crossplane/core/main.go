// Command core runs the core of Crossplane for tests. It is the core that
// Crossplane releases, except that it listens nowhere, and that it prints a line
// when its controllers run. It also has the command that renders composites.
package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane/apis/v2"
	"github.com/crossplane/crossplane/v2/cmd/crossplane/core"
	"github.com/crossplane/crossplane/v2/cmd/crossplane/render"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// scheme has the kinds that the core reads and writes.
var scheme = runtime.NewSchemeBuilder(
	corev1.AddToScheme, authorizationv1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, coordinationv1.AddToScheme,
	apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme, admissionv1.AddToScheme, apis.AddToScheme,
)

// newManager returns the manager of the core's controllers. The core has flags
// for the ports of metrics and health, but none for their addresses.
func newManager(config *rest.Config, o ctrl.Options) (ctrl.Manager, error) {
	o.Metrics.BindAddress, o.HealthProbeBindAddress = "0", "0"
	m, err := manager.New(config, o)
	if err != nil {
		return nil, err
	}
	go func() {
		<-m.Elected()
		fmt.Println("controllers run")
	}()
	return m, nil
}

func main() {
	ctrl.NewManager = newManager
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	// The log is read only when a test has failed, so it has everything.
	log := zap.New(zap.UseDevMode(true)).WithName("crossplane")
	logging.SetFilteredKlogLogger(log)

	var command struct {
		Core     core.Command `cmd:""`
		Internal struct {
			Render render.Command `cmd:""`
		} `cmd:""`
	}
	ctx := kong.Parse(&command, kong.Name("crossplane"), core.KongVars,
		kong.BindTo(logging.NewLogrLogger(log), (*logging.Logger)(nil)))
	kinds := runtime.NewScheme()
	ctx.FatalIfErrorf(scheme.AddToScheme(kinds))
	ctx.FatalIfErrorf(ctx.Run(kinds))
}
