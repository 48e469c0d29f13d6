package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// suites of Debian that have kernels: small ones, so that their lists are read in seconds. They
// come from where this machine has its own packages from.
const suites = `deb [signed-by=%[1]s] %[3]s bookworm-security main
deb [signed-by=%[1]s] %[2]s bookworm-backports main
deb [signed-by=%[1]s] %[2]s trixie-backports main
`

// mirrors finds in lines of "URI release" where Debian's packages, and those of its security
// suite, come from: the second is the first's neighbour where it is not named.
func mirrors(lines string) (debian, security string, err error) {
	for line := range strings.Lines(lines) {
		uri, release, _ := strings.Cut(strings.TrimSpace(line), " ")
		uri = strings.TrimSuffix(uri, "/")
		switch {
		case strings.HasSuffix(release, "-security") && strings.HasSuffix(uri, "/debian-security"):
			security = uri
		case strings.HasSuffix(uri, "/debian"):
			debian = uri
		}
	}
	if debian == "" {
		return "", "", errors.New("apt has no packages of Debian here (run this on Debian, or name a mirror that ends in /debian in apt's sources)")
	}
	if security == "" {
		security = debian + "-security"
	}
	return debian, security, nil
}

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// config keeps apt away from what this machine has installed.
const config = `Dir::Etc::sourcelist "%[1]s/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "%[1]s/state";
Dir::State::status "%[1]s/state/status";
Dir::Cache "%[1]s/cache";
APT::Architecture "amd64";
APT::Architectures { "amd64"; "arm64"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
`

// archive is where kernels are fetched from and kept. Nothing is installed.
type archive struct {
	dir    string
	read   bool              // the lists of packages were, during this run
	images map[string]string // what machines boot into, by processor; made during this run
}

// kernel is a fetched one.
type kernel struct {
	release string
	arch    string
	image   string // file
	console string // file that its messages go to
}

// ownKernel is a file of a kernel, for the processor that this runs on.
func (a *archive) ownKernel(file string) kernel {
	release := strings.TrimPrefix(filepath.Base(file), "vmlinuz-")
	return kernel{release: release, arch: runtime.GOARCH, image: file, console: filepath.Join(a.dir, release+".console")}
}

// kernel fetches the newest kernel of a name: 6.12, 6.12/arm64, newest; or is a file: /boot/vmlinuz-5.15.0.
func (a *archive) kernel(ctx context.Context, name string) (kernel, error) {
	if filepath.IsAbs(name) {
		return a.ownKernel(name), os.MkdirAll(a.dir, 0o755)
	}
	series, arch, chosen := strings.Cut(name, "/")
	if !chosen {
		arch = runtime.GOARCH
	}
	if err := a.update(ctx); err != nil {
		return kernel{}, err
	}
	release, err := a.newest(ctx, series, arch)
	if err != nil {
		return kernel{}, err
	}
	k := kernel{release: release, arch: arch}
	dir := filepath.Join(a.dir, release)
	k.image, k.console = filepath.Join(dir, "vmlinuz"), filepath.Join(dir, "console")
	if _, err := os.Stat(k.image); err == nil {
		return k, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return k, err
	}
	// Since 7.0 the kernel itself is in a package of its own.
	for _, kind := range []string{"linux-binary-", "linux-image-"} {
		if err = a.unpack(ctx, kind+release+":"+arch, k.image); err == nil {
			return k, nil
		}
	}
	return k, err
}

// update reads the lists of packages, once.
func (a *archive) update(ctx context.Context) error {
	if a.read {
		return nil
	}
	if _, err := os.Stat(keyring); err != nil {
		return fmt.Errorf("%w (install debian-archive-keyring)", err)
	}
	own, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages").Output()
	if err != nil {
		return fmt.Errorf("apt-get indextargets: %w", err)
	}
	debian, security, err := mirrors(string(own))
	if err != nil {
		return err
	}
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(a.dir, dir), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"sources.list": fmt.Sprintf(suites, keyring, debian, security), "apt.conf": fmt.Sprintf(config, a.dir), "state/status": "",
	} {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if _, err := a.apt(ctx, "apt-get", "-q", "update"); err != nil {
		return err
	}
	a.read = true
	return nil
}

func (a *archive) apt(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "APT_CONFIG="+filepath.Join(a.dir, "apt.conf"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// newest returns the release of the newest kernel of a series, which is a prefix of it.
func (a *archive) newest(ctx context.Context, series, arch string) (string, error) {
	out, err := a.apt(ctx, "apt-cache", "pkgnames", "linux-image-")
	if err != nil {
		return "", err
	}
	var releases []string
	name := regexp.MustCompile(`^linux-image-([0-9]\S*-cloud-` + arch + `)$`)
	for line := range strings.Lines(out) {
		if m := name.FindStringSubmatch(strings.TrimSpace(line)); m != nil && hasPatch(m[1]) && (series == "newest" || strings.HasPrefix(m[1], series+".")) {
			releases = append(releases, m[1])
		}
	}
	if len(releases) == 0 {
		return "", errors.New("no such kernel in Debian's suites for security and backports")
	}
	return slices.MaxFunc(releases, byNumbers), nil
}

// hasPatch tells a kernel from a package that only leads to one, as linux-image-6.12-cloud-amd64.
func hasPatch(release string) bool { return strings.Count(release, ".") >= 2 }

// byNumbers orders releases by the numbers in them.
func byNumbers(a, b string) int {
	number := regexp.MustCompile(`[0-9]+`)
	return slices.Compare(numbers(number.FindAllString(a, -1)), numbers(number.FindAllString(b, -1)))
}

func numbers(texts []string) []int {
	var all []int
	for _, t := range texts {
		n, _ := strconv.Atoi(t) // digits alone
		all = append(all, n)
	}
	return all
}

// unpack downloads a package and takes the kernel out of it.
func (a *archive) unpack(ctx context.Context, name, image string) error {
	dir, err := os.MkdirTemp(a.dir, "unpack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := a.apt(ctx, "sh", "-c", `cd "$0" && apt-get -q download "$1" && dpkg-deb -x *.deb .`, dir, name); err != nil {
		return err
	}
	for _, where := range []string{"boot/vmlinu?-*", "usr/lib/modules/*/vmlinu?"} {
		if found, err := filepath.Glob(filepath.Join(dir, where)); err == nil && len(found) == 1 {
			return os.Rename(found[0], image)
		}
	}
	return fmt.Errorf("the package %s holds no kernel", name)
}
