package web_test

import (
	"flag"
	"os"
	"testing"

	"github.com/getdwell/dwell/internal/web/types"
)

var update = flag.Bool("update", false, "write the types anew")

// The page's program declares the model with the types that report has.
func TestTypesAreThoseOfTheModel(t *testing.T) {
	const name = "../../ui/src/model/page.gen.ts"
	want := types.Source()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the Go types give: run go test ./internal/web -run Types -update, and make web", name)
	}
}
