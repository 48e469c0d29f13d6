package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A class of which only the compiled form is there, in a servlet container's archive.
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
	dir := t.TempDir()
	source := filepath.Join(dir, "Prices.java")
	if err := os.WriteFile(source, []byte(priceSource), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("javac", "-d", filepath.Join(dir, "out"), source).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	archive := filepath.Join(dir, "lib", "shop.jar")
	writeArchive(t, archive, filepath.Join(dir, "out"), "WEB-INF/classes/")

	find, err := (&sourceOptions{jars: []string{filepath.Dir(archive)}}).find(0)
	if err != nil {
		t.Fatal(err)
	}
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
	_, err := (&sourceOptions{jars: []string{"/missing/shop.jar"}}).find(0)
	if err == nil || !strings.Contains(err.Error(), "--jar: ") || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("the error is %v", err)
	}
}

func writeArchive(t *testing.T, name, from, prefix string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
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
