//go:build linux

package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A class that exists only in compiled form, in a servlet container's archive.
const priceSource = `package shop;

public class Prices {


    public static class Store {
        // far from what is around it
        public long load(long key) throws InterruptedException {
            Thread.sleep(key);
            return key * 2;
        }
    }
}
`

func TestMethodsOfAJarAreDecompiledAtTheirOwnLines(t *testing.T) {
	dir := readable(t)
	compile(t, dir, "Prices.java", priceSource)
	archive := filepath.Join(dir, "lib", "shop.jar")
	writeArchive(t, archive, filepath.Join(dir, "out"), "WEB-INF/classes/")
	find := decompiling(t, filepath.Dir(archive)).lines
	lines := find("shop/Prices.java", 9, 10)
	if len(lines) != 2 || !strings.Contains(lines[0], "Thread.sleep(") || !strings.Contains(lines[0], "decompiled") || !strings.Contains(lines[1], "return") {
		t.Errorf("lines 9 and 10 are %q", lines)
	}
	for _, file := range []string{"shop/Missing.java", "../shop/Prices.java", "/shop/Prices.java", "shop/Prices.kt"} {
		if lines := find(file, 1, 3); lines != nil {
			t.Errorf("%s has lines %q", file, lines)
		}
	}
}

func TestAJarThatIsNotThere(t *testing.T) {
	_, err := (&sourceOptions{jars: []string{"/missing/shop.jar"}}).open(0, invoker{})
	if err == nil || !strings.Contains(err.Error(), "--jar: ") || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("the error is %v", err)
	}
}

// readable returns a directory that everyone may read.
func readable(t *testing.T) string {
	t.Helper()
	dir := directoryOf(t, os.Geteuid())
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func compile(t *testing.T, dir, name, text string) {
	t.Helper()
	put(t, filepath.Join(dir, name), []byte(text))
	if out, err := exec.Command("javac", "-d", filepath.Join(dir, "out"), filepath.Join(dir, name)).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
}

func decompiling(t *testing.T, place string) *sources {
	t.Helper()
	found, err := (&sourceOptions{jars: []string{place}}).open(0, invoker{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.close)
	return found
}

// The current directory contains a class that the decompiler's launcher would take for its own, and the jar contains
// one whose name makes its source be written elsewhere.
func TestNothingOfTheServicesRunsOrWritesAsRoot(t *testing.T) {
	dir := readable(t)
	compile(t, dir, "Prices.java", priceSource)
	marker := filepath.Join(dir, "out", "marker")
	compile(t, dir, "DecompilerDriver.java", `package com.strobel.decompiler;
		public class DecompilerDriver { public static void main(String[] a) throws Exception { new java.io.File("`+marker+`").createNewFile(); } }`)
	if err := os.Chmod(filepath.Join(dir, "out"), 0o777); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "lib", "shop.jar")
	writeArchive(t, archive, filepath.Join(dir, "out"), "")
	t.Chdir(filepath.Join(dir, "out"))
	t.Setenv("CLASSPATH", "")
	found := decompiling(t, archive)
	if lines := found.lines("shop/Prices.java", 9, 9); len(lines) != 1 || !strings.Contains(lines[0], "Thread.sleep(") {
		t.Errorf("line 9 is %q", lines)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the class beside was run")
	}
	if os.Geteuid() == 0 {
		uid, gid, groups, err := fileUser(found.classes.cmd.Process.Pid)
		if err != nil || uid != nobody || gid != nobody || len(groups) > 0 {
			t.Errorf("classes are read by user %d, group %d, groups %v, %v", uid, gid, groups, err)
		}
	}
}

func TestAClassOfAnotherNameIsLeftAlone(t *testing.T) {
	dir := readable(t)
	compile(t, dir, "Prices.java", priceSource)
	if err := os.Rename(filepath.Join(dir, "out", "shop"), filepath.Join(dir, "out", "evil")); err != nil {
		t.Fatal(err)
	}
	if lines := decompiling(t, dir).lines("evil/Prices.java", 9, 9); lines != nil {
		t.Errorf("line 9 is %q", lines)
	}
	code, err := os.ReadFile(filepath.Join(dir, "out", "evil", "Prices$Store.class"))
	if err != nil {
		t.Fatal(err)
	}
	if name, err := className(code); name != "shop/Prices$Store" {
		t.Errorf("its name is %q, %v", name, err)
	}
	for n := range code {
		if _, err := className(code[:n]); err == nil && n < 20 {
			t.Errorf("%d bytes of it have a name", n)
		}
	}
}

func writeArchive(t *testing.T, name, from, prefix string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for _, class := range []string{"shop/Prices.class", "shop/Prices$Store.class"} {
		text, err := os.ReadFile(filepath.Join(from, class))
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(prefix + class)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
