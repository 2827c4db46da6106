package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	// user is the unprivileged user that the image runs as: a number, so that
	// Kubernetes can see that it is not root.
	user = 65532
	// data is the folder of the database, where a volume is mounted.
	data = "/data"
	// port is where the server listens in a container.
	port = "7007"

	spdxType = types.MediaType("application/spdx+json")
)

// writeImage builds the image for all platforms and writes it as an OCI layout: an index
// of the platforms, and for each an SBOM that refers to it. It returns the digest of the index.
func writeImage(ctx context.Context, r release, ps []platform, dir string) (v1.Hash, error) {
	fail := func(err error) (v1.Hash, error) { return v1.Hash{}, fmt.Errorf("cannot write the image: %w", err) }
	if err := builtPage(r); err != nil {
		return fail(err)
	}
	tmp, err := os.MkdirTemp("", "image-")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var boms []v1.Image
	for _, p := range ps {
		bin := filepath.Join(tmp, p.OS+"-"+p.Arch)
		if err := compile(ctx, r, p, bin, server); err != nil {
			return fail(err)
		}
		program := filepath.Join(bin, server)
		img, err := image(r, p, program)
		if err != nil {
			return fail(err)
		}
		text, err := sbom(r, server, program)
		if err != nil {
			return fail(err)
		}
		bom, err := attach(r, img, text)
		if err != nil {
			return fail(err)
		}
		boms = append(boms, bom)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch},
		}})
	}
	index = mutate.Annotations(index, labels(r)).(v1.ImageIndex)
	out, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fail(err)
	}
	err = out.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.plain(),
		"io.containerd.image.name":          r.Image + ":" + r.plain(),
	}))
	if err != nil {
		return fail(err)
	}
	for _, bom := range boms {
		if err := out.AppendImage(bom); err != nil {
			return fail(err)
		}
	}
	return index.Digest()
}

// labels describe the image, for registries and for people.
func labels(r release) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       r.name() + " " + server,
		"org.opencontainers.image.description": r.Description,
		"org.opencontainers.image.version":     r.Version,
		"org.opencontainers.image.revision":    r.Commit,
		"org.opencontainers.image.created":     r.Date.Format(time.RFC3339),
		"org.opencontainers.image.source":      "https://" + r.Repository,
		"org.opencontainers.image.licenses":    r.License,
	}
}

// image returns the image of one platform: an empty one with certificates, a user, and
// the program.
func image(r release, p platform, program string) (v1.Image, error) {
	base, err := layer(r.Date, baseFiles())
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile(filepath.Join(r.Root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	own, err := layer(r.Date, []file{
		{name: "LICENSE", mode: 0o444, text: license},
		{name: server, mode: 0o555, text: text},
	})
	if err != nil {
		return nil, err
	}
	img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	for i, add := range []mutate.Addendum{
		{Layer: base, History: v1.History{CreatedBy: "certificates, user, folders"}},
		{Layer: own, History: v1.History{CreatedBy: server + " " + r.Version}},
	} {
		add.MediaType = types.OCILayer
		add.History.Created = v1.Time{Time: r.Date}
		if img, err = mutate.Append(img, add); err != nil {
			return nil, fmt.Errorf("cannot append layer %d: %w", i, err)
		}
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	cfg = cfg.DeepCopy()
	cfg.OS, cfg.Architecture, cfg.Created = p.OS, p.Arch, v1.Time{Time: r.Date}
	cfg.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", user, user), WorkingDir: data,
		Entrypoint:   []string{"/" + server},
		Env:          []string{"PATH=/", "HOME=" + data},
		ExposedPorts: map[string]struct{}{port + "/tcp": {}},
		Labels:       labels(r),
	}
	return mutate.ConfigFile(img, cfg)
}

// attach returns an SBOM as an artifact whose subject is the image.
func attach(r release, img v1.Image, text []byte) (v1.Image, error) {
	subject, err := descriptor(img)
	if err != nil {
		return nil, err
	}
	bom := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	bom = mutate.ConfigMediaType(bom, spdxType)
	bom, err = mutate.AppendLayers(bom, static.NewLayer(text, spdxType))
	if err != nil {
		return nil, fmt.Errorf("cannot attach the SBOM: %w", err)
	}
	bom = mutate.Annotations(bom, map[string]string{"org.opencontainers.image.created": r.Date.Format(time.RFC3339)}).(v1.Image)
	return mutate.Subject(bom, subject).(v1.Image), nil
}

func descriptor(img v1.Image) (v1.Descriptor, error) {
	digest, err := img.Digest()
	if err != nil {
		return v1.Descriptor{}, err
	}
	size, err := img.Size()
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: digest, Size: size}, nil
}

// file is a file or, with a name that ends in a slash, a folder of a layer.
type file struct {
	name string
	mode fs.FileMode
	// owner is the user and the group.
	owner int
	text  []byte
}

// baseFiles are what a program expects of a system: certificates, a user, a folder for
// temporary files, and one for its data.
func baseFiles() []file {
	passwd := fmt.Sprintf("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%d:%d:nonroot:%s:/sbin/nologin\n", user, user, data)
	return []file{
		{name: "data/", mode: 0o750, owner: user},
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o444, text: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user)},
		{name: "etc/passwd", mode: 0o444, text: []byte(passwd)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o444, text: certificates()},
		{name: "tmp/", mode: 0o777 | fs.ModeSticky},
	}
}

// certificates returns Mozilla's root certificates, as the Go project distributes them:
// pinned in go.mod, and not those of the machine that builds.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // A buffer does not fail.
	}
	return b.Bytes()
}

// layer packs files, in their order and with one date.
func layer(date time.Time, files []file) (v1.Layer, error) {
	var b bytes.Buffer
	if err := writeTar(&b, date, files); err != nil {
		return nil, err
	}
	text := b.Bytes()
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		tarball.WithMediaType(types.OCILayer))
}

func writeTar(w io.Writer, date time.Time, files []file) error {
	out := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Clean(f.name), Mode: int64(f.mode.Perm()), Size: int64(len(f.text)),
			Uid: f.owner, Gid: f.owner, ModTime: date, Format: tar.FormatPAX,
		}
		if f.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if f.name[len(f.name)-1] == '/' {
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		}
		if err := out.WriteHeader(h); err != nil {
			return fmt.Errorf("cannot pack %s: %w", f.name, err)
		}
		if _, err := out.Write(f.text); err != nil {
			return fmt.Errorf("cannot pack %s: %w", f.name, err)
		}
	}
	return out.Close()
}
