package marked

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyWhatIsMarkedIsReplaced(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Page\n<!-- make lab begin -->\nold\n<!-- make lab end -->\nthe end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(page, "faults", nil); err == nil {
		t.Error("there is no place for make faults, and no error")
	}
	if err := Replace(page, "lab", []byte("new\n")); err != nil {
		t.Fatal(err)
	}
	want := "# Page\n<!-- make lab begin -->\nnew\n<!-- make lab end -->\nthe end\n"
	if text, _ := os.ReadFile(page); string(text) != want {
		t.Errorf("the page is now:\n%s\nwant:\n%s", text, want)
	}
}
